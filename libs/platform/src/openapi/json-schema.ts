/** A JSON Schema as plain data, whose content is not checked. */
export type JsonSchema = Record<string, unknown>;

/** A copy in which every object, at any depth, was passed through `change`; inner ones first. */
export function mapSchemas(value: unknown, change: (schema: JsonSchema) => JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((item) => mapSchemas(item, change));
  if (!isSchema(value)) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, mapSchemas(inner, change)]);
  return change(Object.fromEntries(entries) as JsonSchema);
}

/** Every `$ref` in a value. */
export function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isSchema(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : referencesIn(inner),
  );
}

export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
