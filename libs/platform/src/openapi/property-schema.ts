import type { JsonSchema } from './json-schema.js';

/** A rule of class-validator for one property, as stored by the library. */
export interface ValidationRule {
  readonly name?: string;
  readonly type: string;
  readonly propertyName: string;
  readonly constraints?: readonly unknown[];
  readonly each?: boolean;
}

/** The rules of a property in JSON Schema. `declared` is the property's compiled type. */
export function propertySchema(declared: unknown, rules: readonly ValidationRule[]): JsonSchema {
  const whole = merge(rules.filter(({ each }) => each !== true));
  const each = merge(rules.filter((rule) => rule.each === true));
  if (declared === Array || rules.some((rule) => rule.each === true)) {
    return { ...whole, type: 'array', items: typed({ ...(whole['items'] as JsonSchema | undefined), ...each }) };
  }
  return typed(whole, declared);
}

function typed(schema: JsonSchema, declared?: unknown): JsonSchema {
  const type = schema['type'] ?? impliedType(schema) ?? typeName(declared);
  return type === undefined ? schema : { ...schema, type };
}

function merge(rules: readonly ValidationRule[]): JsonSchema {
  const schema: JsonSchema = {};
  const patterns: string[] = [];
  for (const rule of rules) {
    const { pattern, ...words } = describeRule(rule);
    Object.assign(schema, words);
    if (typeof pattern === 'string') patterns.push(pattern);
  }
  const [first, ...others] = patterns;
  if (first !== undefined) schema['pattern'] = first;
  if (others.length > 0) schema['allOf'] = others.map((pattern) => ({ pattern }));
  return schema;
}

/** The compiled type of a union of literals, or of a type and null, contains no information. */
function impliedType(schema: JsonSchema): string | undefined {
  const { enum: values } = schema;
  if (Array.isArray(values)) return values.every((value) => typeof value === 'string') ? 'string' : undefined;
  if (['pattern', 'minLength', 'maxLength'].some((word) => word in schema)) return 'string';
  return undefined;
}

function typeName(declared: unknown): string | undefined {
  if (declared === String) return 'string';
  if (declared === Boolean) return 'boolean';
  return declared === Number ? 'number' : undefined;
}

function describeRule({ name, constraints = [] }: ValidationRule): JsonSchema {
  const [first, second] = constraints;
  const word = LIMITS[name ?? ''];
  if (word !== undefined) return { [word]: first };
  switch (name ?? '') {
    case 'isIn':
    case 'isEnum':
      return Array.isArray(first) ? { enum: [...(first as unknown[])] } : {};
    case 'isNotEmpty':
      return { minLength: 1 };
    case 'arrayNotEmpty':
      return { minItems: 1 };
    case 'arrayUnique':
      return { uniqueItems: true };
    case 'isLength':
      return { minLength: first, ...(second === undefined ? {} : { maxLength: second }) };
    case 'matches':
      return first instanceof RegExp && !needsFlags(first) ? { pattern: portable(first.source) } : {};
    case 'isStringList':
      return { items: { type: 'string', minLength: 1 } };
    default:
      return { ...TYPES[name ?? ''] };
  }
}

/** JSON Schema knows the flag u and no other. */
function needsFlags({ ignoreCase, unicodeSets }: RegExp): boolean {
  return ignoreCase || unicodeSets;
}

/**
 * Control characters and halves of surrogate pairs by number, because few other validators know the classes of Unicode. Halves
 * are left out beside control characters: they are in no well-formed text, and some validators skip a pattern that names them.
 */
function portable(source: string): string {
  const pattern = source
    .replaceAll(String.raw`\p{Cc}\p{Cs}`, String.raw`\p{Cc}`)
    .replaceAll(String.raw`\P{Cc}`, String.raw`[^\x00-\x1f\x7f-\x9f]`)
    .replaceAll(String.raw`\p{Cc}`, String.raw`\x00-\x1f\x7f-\x9f`)
    .replaceAll(String.raw`\p{Cs}`, String.raw`\ud800-\udfff`);
  // Throws if a class of Unicode stood in a set of characters, where its replacement does not fit.
  new RegExp(pattern, 'u');
  return pattern;
}

const LIMITS: Readonly<Record<string, string>> = {
  min: 'minimum',
  max: 'maximum',
  minLength: 'minLength',
  maxLength: 'maxLength',
  arrayMinSize: 'minItems',
  arrayMaxSize: 'maxItems',
};

const TYPES: Readonly<Record<string, JsonSchema>> = {
  isString: { type: 'string' },
  isEmail: { type: 'string', format: 'email' },
  isBoolean: { type: 'boolean' },
  isInt: { type: 'integer' },
  isNumber: { type: 'number' },
  isObject: { type: 'object' },
  isIso8601: { type: 'string', format: 'date-time' },
  isHttpUrl: { type: 'string', format: 'uri' },
};
