import { getMetadataStorage } from 'class-validator';
import type { ApiPropertyOptions } from '@nestjs/swagger';

type Class = abstract new (...args: never[]) => unknown;

interface Rule {
  readonly name?: string;
  readonly type: string;
  readonly propertyName: string;
  readonly constraints?: readonly unknown[];
  readonly each?: boolean;
}

/** Swagger keeps what it knows of a property under this key. */
const KNOWN = 'swagger/apiModelProperties';

/**
 * Describes every class that class-validator checks to the document generator, from its own rules,
 * so that request classes state each constraint once. Properties with an explicit @ApiProperty are left alone.
 */
export async function describeValidatedClasses(): Promise<void> {
  const { ApiProperty } = await import('@nestjs/swagger');
  const storage = getMetadataStorage() as unknown as { validationMetadatas: Map<Class, readonly Rule[]> };
  for (const [target, rules] of storage.validationMetadatas) {
    if (typeof target !== 'function') continue;
    const prototype = target.prototype as object;
    for (const [property, own] of byProperty(rules)) {
      if (Reflect.hasMetadata(KNOWN, prototype, property)) continue;
      ApiProperty(propertyOptions(prototype, property, own))(prototype, property);
    }
  }
}

function byProperty(rules: readonly Rule[]): Map<string, Rule[]> {
  const grouped = new Map<string, Rule[]>();
  for (const rule of rules) {
    const own = grouped.get(rule.propertyName) ?? [];
    own.push(rule);
    grouped.set(rule.propertyName, own);
  }
  return grouped;
}

function propertyOptions(prototype: object, property: string, rules: readonly Rule[]): ApiPropertyOptions {
  const options: Record<string, unknown> = {};
  const declared: unknown = Reflect.getMetadata('design:type', prototype, property);
  const each = rules.some((rule) => rule.each === true);
  for (const rule of rules) Object.assign(options, describeRule(rule));
  if (declared === Array || each) options['isArray'] = true;
  options['type'] ??= scalarOf(declared);
  options['required'] = !rules.some(({ type }) => type === 'conditionalValidation');
  return options as ApiPropertyOptions;
}

function scalarOf(declared: unknown): unknown {
  if (declared === Object || declared === Array || declared === undefined) return Object;
  return declared;
}

/** What one rule says in the words of JSON Schema. */
function describeRule({ name, constraints = [] }: Rule): Record<string, unknown> {
  const [first, second] = constraints;
  switch (name ?? '') {
    case 'isString':
      return { type: String };
    case 'isBoolean':
      return { type: Boolean };
    case 'isInt':
      return { type: 'integer' };
    case 'isNumber':
      return { type: Number };
    case 'isIn':
    case 'isEnum':
      return Array.isArray(first) ? { enum: [...(first as unknown[])] } : {};
    case 'min':
      return { minimum: first };
    case 'max':
      return { maximum: first };
    case 'minLength':
      return { minLength: first };
    case 'maxLength':
      return { maxLength: first };
    case 'isLength':
      return { minLength: first, ...(second === undefined ? {} : { maxLength: second }) };
    case 'arrayMaxSize':
      return { maxItems: first };
    case 'arrayMinSize':
      return { minItems: first };
    case 'matches':
      return first instanceof RegExp ? { pattern: first.source } : {};
    default:
      return {};
  }
}
