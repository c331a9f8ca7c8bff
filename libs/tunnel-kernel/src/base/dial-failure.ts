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

/** Maps a dialer's error to a reason. */
export function dialFailure(error: unknown): DialFailure {
  const { code } = error as { code?: string };
  return FAILURES[code ?? ''] ?? 'other';
}
