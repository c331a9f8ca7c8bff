import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';

/** All that is wrong with what the program was told, one line each. */
export class UsageError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('; '));
    this.name = 'UsageError';
    this.problems = problems;
  }
}

/** Goes on after what is wrong, so that all of it is told at once. */
export class Problems {
  private readonly found: string[] = [];

  /** What `read` answers; `otherwise` where it raises an error, whose message is kept. */
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

/** @throws UsageError for an option that is not known, and for words that are none. */
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
