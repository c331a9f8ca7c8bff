import type { JsonSchema } from '../openapi/json-schema.js';

type Rule = JsonSchema | (() => JsonSchema);

const RULES = new Map<string, Rule>();

/**
 * States in the interface description what the code behind a request class checks and no rule of a single field says:
 * which fields go together, what a text has to contain. `properties` add to those of the class. A function is called
 * when the description is requested.
 */
export function SchemaRule(rule: Rule): ClassDecorator {
  return (type) => {
    RULES.set(type.name, rule);
  };
}

/** The schema of a request class with its rules. */
export function withSchemaRule(name: string, schema: JsonSchema): JsonSchema {
  const rule = RULES.get(name);
  if (rule === undefined) return schema;
  const { properties, ...others } = typeof rule === 'function' ? rule() : rule;
  const merged: JsonSchema = { ...(schema['properties'] as JsonSchema) };
  for (const [field, words] of Object.entries((properties ?? {}) as Record<string, JsonSchema>)) {
    merged[field] = { ...(merged[field] as JsonSchema), ...words };
  }
  return { ...schema, ...others, properties: merged };
}
