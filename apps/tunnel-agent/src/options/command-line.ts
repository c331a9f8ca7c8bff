import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { agentWords, type AgentWords } from '../messages/index.js';

type Say = (words: AgentWords) => string;

/** One thing that is wrong. Its message is English. */
export class Complaint extends Error {
  /** The same in the language of the person at the terminal. */
  readonly in: Say;

  constructor(say: Say, options?: ErrorOptions) {
    super(say(agentWords('en')), options);
    this.in = say;
  }
}

/** Everything wrong with the command line and the settings. */
export class UsageError extends Error {
  private readonly complaints: readonly Complaint[];

  constructor(complaints: readonly Complaint[]) {
    super(complaints.map(({ message }) => message).join('; '));
    this.name = 'UsageError';
    this.complaints = complaints;
  }

  /** One line each. */
  problems(words: AgentWords = agentWords('en')): string[] {
    return this.complaints.map((complaint) => complaint.in(words));
  }
}

/** Why a file cannot be read. */
export function fileReason(error: unknown, words: AgentWords): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR' ? words.text(`usage.reasons.${code}`) : message;
}

/** Collects problems, so that all of them are reported at once. */
export class Problems {
  private readonly found: Complaint[] = [];

  /** Returns what `read` returns; or `otherwise` if it complains, and keeps the complaint. */
  readonly note = <T>(read: () => T, otherwise: T): T => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Complaint)) throw error;
      this.found.push(error);
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
    throw new UsageError([complaintOf(error as NodeJS.ErrnoException)]);
  }
}

/** What `parseArgs` says, which is English: `Unknown option '--alow'. To …`, `Option '--server <value>' argument missing`. */
export function complaintOf({ code, message }: NodeJS.ErrnoException): Complaint {
  const named = /'([^'\s]*)/.exec(message)?.[1];
  if (named === undefined) return new Complaint(() => message);
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    return new Complaint((words) => words.text('usage.unknownOption', { option: named }));
  }
  if (code === 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL') {
    return new Complaint((words) => words.text('usage.notAnOption', { text: named }));
  }
  if (code !== 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') return new Complaint(() => message);
  const key = message.includes('does not take') ? 'usage.valueUnexpected' : 'usage.valueMissing';
  return new Complaint((words) => words.text(key, { option: named }));
}
