/** SQLSTATE classes that blame the data: data exception, integrity constraint violation. */
const DATA_CLASSES = new Set(['22', '23']);

/** True for an error that the same rows would meet again. */
export function isBadData(error: unknown): boolean {
  const cause = error instanceof Error && 'driverError' in error ? error.driverError : error;
  // A date that is none fails on this side, before anything is sent.
  if (cause instanceof RangeError) return true;
  const code = cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : '';
  return DATA_CLASSES.has(code.slice(0, 2));
}
