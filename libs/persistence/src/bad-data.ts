/** SQLSTATE classes that blame the data: data exception, integrity constraint violation. */
const DATA_CLASSES = new Set(['22', '23']);

/** True for an error that the same rows would meet again. */
export function isBadData(error: unknown): boolean {
  // A date that is none fails on this side, before anything is sent.
  if (causeOf(error) instanceof RangeError) return true;
  return DATA_CLASSES.has(codeOf(error).slice(0, 2));
}

/** True when a lock was not had in time. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03';
}

function causeOf(error: unknown): unknown {
  return error instanceof Error && 'driverError' in error ? error.driverError : error;
}

function codeOf(error: unknown): string {
  const cause = causeOf(error);
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
}
