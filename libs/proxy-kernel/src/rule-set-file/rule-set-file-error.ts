/** A file that is not a rule set of the given kind. The only error that parsing throws for a whole file. */
export class RuleSetFileError extends Error {
  readonly code = 'RULE_SET_INVALID';
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'RuleSetFileError';
  }
}
