import { QueryRunnerAlreadyReleasedError, QueryRunnerProviderAlreadyReleasedError } from 'typeorm';

/** The server ended the connection between two statements of a transaction: none of it was committed. */
export class ConnectionEndedError extends Error {
  override readonly name = 'ConnectionEndedError';
  /** For `mayPass`: the same work may succeed in a moment. */
  readonly temporary = true;

  constructor(cause: unknown) {
    super('The connection to the database ended during a transaction', { cause });
  }
}

/**
 * For errors of a transaction that is still running. TypeORM gives a connection that broke between two statements back at
 * once, and reports the next statement as a mistake of its caller.
 */
export function asConnectionEnded(error: unknown): unknown {
  const isReleased =
    error instanceof QueryRunnerAlreadyReleasedError || error instanceof QueryRunnerProviderAlreadyReleasedError;
  return isReleased ? new ConnectionEndedError(error) : error;
}
