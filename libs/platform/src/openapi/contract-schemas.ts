import { readFile } from 'node:fs/promises';
import { isSchema, mapSchemas, referencesIn, type JsonSchema } from './json-schema.js';

const IN_FILE = '#/definitions/';
const IN_DOCUMENT = '#/components/schemas/';

/** The schemas of a service's contract types, as `npm run schemas` writes them, ready for an OpenAPI document. */
export class ContractSchemas {
  private readonly schemas: ReadonlyMap<string, JsonSchema>;

  private constructor(schemas: ReadonlyMap<string, JsonSchema>) {
    this.schemas = schemas;
  }

  static async read(file: URL): Promise<ContractSchemas> {
    const found: unknown = JSON.parse(await readFile(file, 'utf8'));
    if (!isSchema(found)) throw new TypeError(`${file.pathname} is no object of schemas`);
    const moved = mapSchemas(found, moveReference) as Record<string, JsonSchema>;
    return new ContractSchemas(new Map(Object.entries(moved).map(([name, schema]) => [componentName(name), schema])));
  }

  /** @throws Error for a type that the contracts do not contain */
  reference(type: string): JsonSchema {
    const name = componentName(type);
    if (!this.schemas.has(name)) throw new Error(`There is no contract type ${type}`);
    return { $ref: IN_DOCUMENT + name };
  }

  /** These types and all types to which they refer. */
  reachableFrom(types: Iterable<string>): Record<string, JsonSchema> {
    const found: Record<string, JsonSchema> = {};
    const left = [...types].map(componentName);
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      const schema = this.schemas.get(name);
      if (schema === undefined || found[name] !== undefined) continue;
      found[name] = schema;
      left.push(...referencesIn(schema).map((reference) => reference.slice(IN_DOCUMENT.length)));
    }
    return found;
  }
}

function moveReference(schema: JsonSchema): JsonSchema {
  const { $ref: reference } = schema;
  if (typeof reference !== 'string') return schema;
  return { ...schema, $ref: IN_DOCUMENT + componentName(reference.slice(IN_FILE.length)) };
}

/** Names of components are letters, digits, dots, hyphens and underscores; `Page<NodeView>` is `Page_NodeView`. */
function componentName(type: string): string {
  return type.replaceAll(/[^\w.-]+/g, '_').replace(/_$/, '');
}
