import { readFile } from 'node:fs/promises';
import type { OperationExample } from '@gatehouse/platform';

/** Requests that a test sends, and what was answered when they were written down. */
export const EXAMPLES_FILE = new URL('../openapi-examples.json', import.meta.url);

export async function loadExamples(): Promise<OperationExample[]> {
  return JSON.parse(await readFile(EXAMPLES_FILE, 'utf8')) as OperationExample[];
}
