import { createRequire } from 'node:module';
import { getMetadataStorage } from 'class-validator';
import type { ApiPropertyOptions } from '@nestjs/swagger';
import type { JsonSchema } from './json-schema.js';
import { propertySchema, type ValidationRule } from './property-schema.js';

type Class = new () => object;

/** The key under which Swagger stores what it knows about a property. */
const KNOWN = 'swagger/apiModelProperties';

/**
 * Describes every class that class-validator checks to the document generator, from its own rules,
 * so that request classes state each constraint once. Properties with an explicit @ApiProperty are left alone.
 */
export async function describeValidatedClasses(): Promise<void> {
  const { ApiProperty } = await import('@nestjs/swagger');
  const storage = getMetadataStorage() as unknown as { validationMetadatas: Map<Class, readonly ValidationRule[]> };
  for (const [target, rules] of storage.validationMetadatas) {
    if (typeof target !== 'function') continue;
    const prototype = target.prototype as object;
    const defaults = defaultsOf(target);
    for (const [property, own] of byProperty(rules)) {
      if (Reflect.hasMetadata(KNOWN, prototype, property)) continue;
      ApiProperty(propertyOptions(prototype, property, own, defaults[property]))(prototype, property);
    }
  }
}

/** Default values of the properties. Settings and the like may need arguments, so they have none. */
function defaultsOf(target: Class): Record<string, unknown> {
  return target.length > 0 ? {} : { ...new target() };
}

function byProperty(rules: readonly ValidationRule[]): Map<string, ValidationRule[]> {
  const grouped = new Map<string, ValidationRule[]>();
  for (const rule of rules) {
    const own = grouped.get(rule.propertyName) ?? [];
    own.push(rule);
    grouped.set(rule.propertyName, own);
  }
  return grouped;
}

function propertyOptions(
  prototype: object,
  property: string,
  rules: readonly ValidationRule[],
  byDefault: unknown,
): ApiPropertyOptions {
  const declared: unknown = Reflect.getMetadata('design:type', prototype, property);
  const options: JsonSchema = propertySchema(declared, rules);
  const nested = rules.find(({ type }) => type === 'nestedValidation');
  if (nested) {
    const inner = nestedClass(prototype, property);
    options['type'] = nested.each === true ? [inner] : inner;
    delete options['items'];
  }
  options['type'] ??= Object;
  if (byDefault !== undefined) options['default'] = byDefault;
  const conditions = rules.filter(({ type }) => type === 'conditionalValidation');
  options['required'] = conditions.length === 0 && byDefault === undefined;
  if (conditions.some((rule) => passesNull(rule))) options['nullable'] = true;
  return options as ApiPropertyOptions;
}

/**
 * The class in `@Type`: for a union with null the compiler keeps no type. class-transformer has no public way to ask.
 */
function nestedClass(prototype: object, property: string): unknown {
  const { defaultMetadataStorage } = createRequire(import.meta.url)('class-transformer/cjs/storage.js') as {
    defaultMetadataStorage: {
      findTypeMetadata(target: unknown, property: string): { typeFunction: () => Class } | undefined;
    };
  };
  return defaultMetadataStorage.findTypeMetadata(prototype.constructor, property)?.typeFunction();
}

/** Whether the other rules of the property are skipped for `null`. */
function passesNull({ propertyName, constraints = [] }: ValidationRule): boolean {
  const [condition] = constraints;
  return typeof condition === 'function' && condition({ [propertyName]: null }, null) === false;
}
