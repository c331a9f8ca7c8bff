/** A failure whose message is all a person needs: one line that says what happened, further lines that say what to do. */
export class PlainFailure extends Error {
  /** @param {string} message @param {{ advice?: string[], exitCode?: number, cause?: unknown }} [options] */
  constructor(message, options = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PlainFailure';
    this.advice = options.advice ?? [];
    this.exitCode = options.exitCode ?? 1;
  }
}

/** Prints a failure as plain lines on stderr and returns the exit code that goes with it. */
export function reportFailure(error) {
  if (error instanceof PlainFailure) {
    process.stderr.write(`gatehouse: ${error.message}\n`);
    for (const line of error.advice) process.stderr.write(`  ${line}\n`);
    return error.exitCode;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`gatehouse: unexpected failure, please report it\n${text}\n`);
  return 1;
}
