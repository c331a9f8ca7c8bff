import type { RefreshReason } from '@gatehouse/contracts';

interface FailureFacts {
  cause?: unknown;
  httpStatus?: number;
  retryAfterMs?: number | null;
}

/** A fetch that failed, with a message for the owner of the subscription. */
export class FetchFailure extends Error {
  readonly reason: RefreshReason;
  readonly httpStatus: number | null;
  /** How long the provider asked to wait before the next attempt. */
  readonly retryAfterMs: number | null;

  constructor(reason: RefreshReason, message: string, facts: FailureFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'FetchFailure';
    this.reason = reason;
    this.httpStatus = facts.httpStatus ?? null;
    this.retryAfterMs = facts.retryAfterMs ?? null;
  }
}
