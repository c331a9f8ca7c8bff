import type { RuleSetRefreshReason } from '@gatehouse/contracts';

/** Entries that could not be read, with a message for the user who set up the rule set. */
export class RuleSetFailure extends Error {
  readonly reason: RuleSetRefreshReason;
  readonly httpStatus: number | null;

  constructor(
    reason: RuleSetRefreshReason,
    message: string,
    { cause, httpStatus = null }: { cause?: unknown; httpStatus?: number | null } = {},
  ) {
    super(message, { cause });
    this.name = 'RuleSetFailure';
    this.reason = reason;
    this.httpStatus = httpStatus;
  }
}
