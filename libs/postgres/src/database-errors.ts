/**
 * SQLSTATE classes and codes that blame the rows: cardinality violation, data exception, integrity constraint violation,
 * WITH CHECK OPTION violation, program limit exceeded, and exceptions that triggers raise.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const BLAMES_ROWS = /^(?:21|22|23|44|54)...$|^P0001$/;
/**
 * What passes by itself: connection exceptions, deadlocks and serialization failures, insufficient resources, a lock
 * that was not had in time, a statement that took too long, and a server that is starting or stopping.
 */
const PASSES = /^(?:08...|53...|57P0.|40001|40P01|55P03|57014)$/;
/** What pools and drivers, and Redis's, say without a code when there is no connection or when one broke. */
const CONNECTION_TEXTS =
  /^(?:timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error|terminating connection due to |Connection is closed)/;
const CONNECTION_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);

/** True for an error that the same rows would meet again. */
export function isRefusedData(error: unknown): boolean {
  // A date that is none fails on this side, before anything is sent.
  if (causeOf(error) instanceof RangeError) return true;
  return BLAMES_ROWS.test(sqlStateOf(error));
}

/** The five characters with which PostgreSQL answered; empty when the error is not its answer. */
export function sqlStateOf(error: unknown): string {
  const cause = causeOf(error);
  // Codes of the system, such as EPIPE, come without a severity.
  const fromServer = cause instanceof Error && 'code' in cause && 'severity' in cause;
  return fromServer && typeof cause.code === 'string' ? cause.code : '';
}

/** TypeORM wraps errors of the driver. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && 'driverError' in error ? error.driverError : error;
}

/**
 * True when the database or Redis did not do it now, and may in a moment: it does not answer, all connections are taken,
 * or another session holds what is needed. Errors of other sources say so by `temporary`.
 */
export function mayPass(error: unknown): boolean {
  const cause = causeOf(error);
  if (!(cause instanceof Error)) return false;
  if ('temporary' in cause && cause.temporary === true) return true;
  if (PASSES.test(sqlStateOf(cause)) || CONNECTION_TEXTS.test(cause.message)) return true;
  return 'syscall' in cause && 'code' in cause && CONNECTION_CODES.has(String(cause.code));
}
