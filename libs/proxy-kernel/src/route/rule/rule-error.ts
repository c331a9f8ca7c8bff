/** A rule that cannot be compiled. `field` is the part of the rule at fault; the message can be shown to users. */
export class RuleError extends Error {
  readonly field: 'type' | 'payload' | 'target';
  constructor(field: 'type' | 'payload' | 'target', message: string) {
    super(message);
    this.name = 'RuleError';
    this.field = field;
  }
}
