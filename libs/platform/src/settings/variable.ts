export type VariableKind = 'text' | 'integer' | 'boolean' | 'list';

export interface VariableOptions {
  /** How the text of the variable is read. Default: text. */
  readonly kind?: VariableKind;
  /** Said to the operator when the value is wrong: what would be right. */
  readonly expected: string;
  /** Another variable that says the same where this one is not set. */
  readonly alias?: string;
  /** Its value is never printed. */
  readonly secret?: boolean;
}

export interface VariableBinding extends VariableOptions {
  readonly property: string;
  readonly variable: string;
}

const bindings = new WeakMap<object, VariableBinding[]>();

/** Binds a property of a settings class to an environment variable; the property's initial value is the default. */
export function Variable(variable: string, options: VariableOptions): PropertyDecorator {
  return (prototype, property) => {
    const own = bindings.get(prototype) ?? [];
    own.push({ ...options, variable, property: String(property) });
    bindings.set(prototype, own);
  };
}

/** Bindings of a class and of what it extends; a redeclared property replaces the inherited binding. */
export function variableBindings(prototype: object): VariableBinding[] {
  const found = new Map<string, VariableBinding>();
  for (let level: object | null = prototype; level !== null; level = Object.getPrototypeOf(level) as object | null) {
    for (const binding of bindings.get(level) ?? []) {
      if (!found.has(binding.property)) found.set(binding.property, binding);
    }
  }
  return [...found.values()];
}
