import { isSchema, type JsonSchema } from './json-schema.js';

/** A request that was really sent, and its answer. */
export interface OperationExample {
  readonly operation: string;
  /** Distinguishes it from the operation's other examples. */
  readonly name: string;
  /** Values of the path's parameters. */
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  readonly body?: unknown;
  readonly status: number;
  readonly mediaType: string;
  readonly answer: unknown;
}

const FORM = 'application/x-www-form-urlencoded';

/** Throws for an unknown operation, because the text would be lost. */
export function addDescriptions(
  operations: readonly { operation: JsonSchema }[],
  descriptions: Readonly<Record<string, string>>,
): void {
  const byId = byOperationId(operations);
  for (const [id, description] of Object.entries(descriptions)) {
    const operation = byId.get(id);
    if (operation === undefined) throw new Error(`A description names the operation ${id}: there is none`);
    operation['description'] = description;
  }
}

function byOperationId(operations: readonly { operation: JsonSchema }[]): Map<unknown, JsonSchema> {
  return new Map(operations.map(({ operation }) => [operation['operationId'], operation]));
}

/** Puts examples where readers and tools look for them: at parameters, request body and answer. */
export function addExamples(operations: readonly { operation: JsonSchema }[], examples: readonly OperationExample[]) {
  const byId = byOperationId(operations);
  for (const example of examples) {
    const operation = byId.get(example.operation);
    if (operation === undefined) throw new Error(`An example names the operation ${example.operation}: there is none`);
    addExample(operation, example);
  }
}

function addExample(operation: JsonSchema, { name, path, query, body, status, mediaType, answer }: OperationExample) {
  for (const parameter of (operation['parameters'] ?? []) as JsonSchema[]) {
    const value = { ...path, ...query }[String(parameter['name'])];
    if (value !== undefined) put(parameter, name, value);
  }
  if (body !== undefined) {
    const { requestBody } = operation;
    put(contentOf(requestBody, 'application/json') ?? contentOf(requestBody, FORM), name, body);
  }
  const responses = operation['responses'] as Record<string, unknown>;
  put(contentOf(responses[status], mediaType), name, answer);
}

function put(place: JsonSchema | undefined, name: string, value: unknown): void {
  if (place !== undefined) place['examples'] = { ...(place['examples'] as object | undefined), [name]: { value } };
}

function contentOf(holder: unknown, mediaType: string): JsonSchema | undefined {
  const content = isSchema(holder) ? holder['content'] : undefined;
  const found = isSchema(content) ? content[mediaType] : undefined;
  return isSchema(found) ? found : undefined;
}
