import type { RefreshReason } from '@gatehouse/contracts';

/** A subscription that could not be fetched, in words fit for its owner. */
export class FetchFailure extends Error {
  readonly reason: RefreshReason;
  readonly httpStatus: number | null;

  constructor(reason: RefreshReason, message: string, options: { cause?: unknown; httpStatus?: number } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'FetchFailure';
    this.reason = reason;
    this.httpStatus = options.httpStatus ?? null;
  }
}
