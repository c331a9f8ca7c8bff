import { bilingual, type Bilingual } from '@gatehouse/i18n';
import { parseControlEndpoint } from '@gatehouse/net';
import { IsInt, IsOptional, Max, Min, ValidateBy } from 'class-validator';

export type VariableKind = 'text' | 'integer' | 'boolean' | 'list';

export interface VariableOptions {
  /** How the text of the variable is read. Default: text. */
  readonly kind?: VariableKind;
  /** Shown to the operator if the value is invalid: what would be valid. */
  readonly expected: Bilingual;
  /** Another variable with the same meaning, which is used if this one is not set. */
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

/** A setting that is a port; 0: any free one. */
export function Port(variable: string): PropertyDecorator {
  return (prototype, property) => {
    const port = Variable(variable, {
      kind: 'integer',
      expected: bilingual('a port from 0 to 65535', '0 到 65535 的端口'),
    });
    for (const decorate of [port, IsInt(), Min(0), Max(65_535)]) decorate(prototype, property);
  };
}

/** A setting that says where a control channel is, or nothing. `example`: a host with its port. */
export function Channel(variable: string, example: string): PropertyDecorator {
  const validate = (text: unknown): boolean => typeof text === 'string' && parseControlEndpoint(text) !== null;
  return (prototype, property) => {
    const expected = bilingual(
      `host:port such as ${example}, or the path of a socket`,
      `主机:端口（例如 ${example}）或套接字的路径`,
    );
    const channel = Variable(variable, { expected });
    const isChannel = ValidateBy({ name: 'isChannel', validator: { validate } });
    for (const decorate of [channel, IsOptional(), isChannel]) decorate(prototype, property);
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

/** Several of them, separated by commas. */
export function Channels(variable: string, example: string): PropertyDecorator {
  const validate = (texts: unknown): boolean =>
    Array.isArray(texts) && texts.every((text) => typeof text === 'string' && parseControlEndpoint(text) !== null);
  return (prototype, property) => {
    const expected = bilingual(
      `host:port such as ${example}, or the path of a socket; several are separated by commas`,
      `主机:端口（例如 ${example}）或套接字的路径；多个以逗号分隔`,
    );
    const channels = Variable(variable, { kind: 'list', expected });
    const areChannels = ValidateBy({ name: 'areChannels', validator: { validate } });
    for (const decorate of [channels, IsOptional(), areChannels]) decorate(prototype, property);
  };
}
