import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

/** Everything wrong with the command line and the settings, one line each. */
export class UsageError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.name = 'UsageError';
    this.problems = problems;
  }
}

/** Collects problems, so that all of them are reported at once. */
export class Problems {
  private readonly found: string[] = [];

  /** Returns what `read` returns; or `otherwise` if it throws, and keeps the error's message. */
  readonly note = <T>(read: () => T, otherwise: T): T => {
    try {
      return read();
    } catch (error) {
      this.found.push((error as Error).message);
      return otherwise;
    }
  };

  /** @throws UsageError */
  throwIfAny(): void {
    if (this.found.length > 0) throw new UsageError(this.found);
  }
}

/** @throws UsageError for unknown options, and for arguments that are not options. */
export function parseCommandLine<Options extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Options,
): ReturnType<typeof parseArgs<{ options: Options }>>['values'] {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError([(error as Error).message]);
  }
}
