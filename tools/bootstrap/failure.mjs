import { localized } from './language.mjs';

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

const NO_SPACE = new Set(['ENOSPC', 'EDQUOT']);

/** A failure for want of space as words, whatever wanted to write; anything else as it is. */
export function explainFullDisk(error, folder) {
  if (!NO_SPACE.has(error?.code)) return error;
  return new PlainFailure(
    localized(`there is no space left on the disk of ${folder}.`, `${folder} 所在的磁盘空间不足。`),
    {
      advice: [
        localized(
          'Make room and start again; what was stored before is kept.',
          '请清理空间后重新启动；已保存的数据不受影响。',
        ),
      ],
      cause: error,
    },
  );
}

/** Prints a failure as plain lines on stderr and returns the exit code that goes with it. */
export function reportFailure(error) {
  if (error instanceof PlainFailure) {
    process.stderr.write(`gatehouse: ${error.message}\n`);
    for (const line of error.advice) process.stderr.write(`  ${line}\n`);
    return error.exitCode;
  }
  // What `parseArgs` of node:util says of an option that a command does not have.
  if (error?.code?.startsWith?.('ERR_PARSE_ARGS')) return reportFailure(new PlainFailure(error.message));
  if (NO_SPACE.has(error?.code)) return reportFailure(explainFullDisk(error, error.path ?? process.cwd()));
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(
    `gatehouse: ${localized('unexpected failure, please report it', '意外错误，请反馈')}\n${text}\n`,
  );
  return 1;
}
