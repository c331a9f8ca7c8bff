import { withSchemaRule } from '../validation/schema-rules.js';
import { lenientClassNames } from '../validation/unknown-fields.js';
import { isSchema, mapSchemas, type JsonSchema } from './json-schema.js';

/**
 * Converts schemas of request classes from the generator to JSON Schema 2020-12: `nullable` becomes the type null, and
 * restrictions of the validation are added, such as no unknown fields in most classes.
 */
export function requestSchemas(schemas: Record<string, unknown>): Record<string, JsonSchema> {
  const rewritten = mapSchemas(schemas, describeNull) as Record<string, JsonSchema>;
  const lenient = lenientClassNames();
  return Object.fromEntries(
    Object.entries(rewritten).map(([name, schema]) => {
      const whole = withSchemaRule(name, schema);
      return [name, lenient.has(name) ? whole : { ...whole, additionalProperties: false }];
    }),
  );
}

function describeNull({ nullable, ...given }: JsonSchema): JsonSchema {
  // The generator drops the type of a text with several patterns, which stand in allOf.
  const isText = given['type'] === undefined && 'pattern' in given && 'allOf' in given;
  const schema = isText ? { type: 'string', ...given } : given;
  // A property with this name.
  if (isSchema(nullable)) return { nullable, ...schema };
  if (nullable !== true) return schema;
  if (typeof schema['type'] !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const values = schema['enum'];
  return {
    ...schema,
    type: [schema['type'], 'null'],
    ...(Array.isArray(values) ? { enum: [...(values as unknown[]), null] } : {}),
  };
}

/** Parameters as they are on the wire: text, so that nothing can be null, and ids with 64 bits. */
export function requestParameters(parameters: unknown): JsonSchema[] {
  if (!Array.isArray(parameters)) return [];
  return (parameters as JsonSchema[]).map((parameter) => {
    const { schema } = parameter;
    if (!isSchema(schema)) return parameter;
    if (parameter['in'] === 'path' && schema['type'] === 'number') {
      return { ...parameter, schema: { type: 'integer', format: 'int64' } };
    }
    return { ...parameter, schema: withoutNull(schema) };
  });
}

function withoutNull({ type, enum: values, ...rest }: JsonSchema): JsonSchema {
  const types: unknown[] = Array.isArray(type) ? type : [type];
  return {
    ...(type === undefined ? {} : { type: types.find((name) => name !== 'null') }),
    ...(Array.isArray(values) ? { enum: values.filter((value) => value !== null) } : {}),
    ...rest,
  };
}
