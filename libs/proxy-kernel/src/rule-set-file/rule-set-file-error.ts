/** A file that is no rule set of the kind it was said to be. Whatever is wrong with a whole file, reading it throws this and nothing else. */
export class RuleSetFileError extends Error {
  readonly code = 'RULE_SET_INVALID';
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'RuleSetFileError';
  }
}
