/** A rule that cannot be compiled. `field` is the part of the rule at fault; the message is fit to be shown to whoever wrote it. */
export class RuleError extends Error {
  readonly field: 'type' | 'payload' | 'target';
  constructor(field: 'type' | 'payload' | 'target', message: string) {
    super(message);
    this.name = 'RuleError';
    this.field = field;
  }
}
