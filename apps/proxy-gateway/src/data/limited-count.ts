import { MAX_COUNT } from '@gatehouse/net';

/**
 * SQL of a counter that goes to Node as JSON, which has no limit for numbers: it stops where JavaScript would round. Null
 * stays null, which `least` would turn into the limit.
 */
export function limitedCount(expression: string): string {
  return `CASE WHEN ${expression} > ${MAX_COUNT} THEN ${MAX_COUNT} ELSE ${expression} END`;
}
