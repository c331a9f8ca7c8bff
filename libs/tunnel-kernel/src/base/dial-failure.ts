import type { DialFailure } from '../wire/messages.js';

const FAILURES: Readonly<Record<string, DialFailure>> = {
  ECONNREFUSED: 'refused',
  ETIMEDOUT: 'timeout',
  timeout: 'timeout',
  EHOSTUNREACH: 'unreachable',
  ENETUNREACH: 'unreachable',
  ENOTFOUND: 'name',
  EAI_AGAIN: 'name',
  EACCES: 'forbidden',
};

/** What an error of a dialer means. */
export function dialFailure(error: unknown): DialFailure {
  const { code } = error as { code?: string };
  return FAILURES[code ?? ''] ?? 'other';
}
