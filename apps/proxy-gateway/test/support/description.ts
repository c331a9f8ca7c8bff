import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv';
import type { AnyJson } from './gateway.js';

/** An answer to a request. */
export interface Exchange {
  status: number;
  mediaType: string;
  answer: unknown;
}

export interface DescribedOperation {
  id: string;
  method: string;
  path: string;
  document: AnyJson;
  problemsOfBody(body: unknown): string[];
  problemsOfAnswer(exchange: Exchange): string[];
  showsExamples(): boolean;
}

/** The interface description of a running service. */
export interface Description {
  document: AnyJson;
  operationIds(): string[];
  /** Throws for an unknown operation. */
  operation(id: string): DescribedOperation;
  /** By method and path as in the specification: `GET`, `/proxies/{id}`. */
  find(method: string, path: string): DescribedOperation | undefined;
}

const PREFIX = '/api/v1';

export async function readDescription(base: string): Promise<Description> {
  const response = await fetch(`${base}${PREFIX}/openapi.json`);
  const document: AnyJson = await response.json();
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'description');
  const operations = Object.entries<AnyJson>(document.paths).flatMap(([path, item]) =>
    Object.entries<AnyJson>(item).map(([method, operation]) => described(ajv, path, method, operation)),
  );
  return {
    document,
    operationIds: () => operations.map(({ id }) => id),
    operation(id) {
      const found = operations.find((operation) => operation.id === id);
      if (!found) throw new Error(`The description has no operation ${id}`);
      return found;
    },
    find: (method, path) =>
      operations.find((operation) => operation.method === method && operation.path === `${PREFIX}${path}`),
  };
}

function described(ajv: Ajv2020, path: string, method: string, operation: AnyJson): DescribedOperation {
  const check = (place: string[], value: unknown): string[] => {
    const pointer = ['paths', path, method, ...place].map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'));
    const validate: ValidateFunction = ajv.compile({
      $ref: `description#/${pointer.map(encodeURIComponent).join('/')}`,
    });
    if (validate(value)) return [];
    return (validate.errors ?? []).map((error) => `${error.instancePath} ${error.message ?? ''}`);
  };
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    document: operation,
    problemsOfBody(body) {
      if (operation.requestBody === undefined) return ['no body is described'];
      return check(['requestBody', 'content', 'application/json', 'schema'], body);
    },
    problemsOfAnswer({ status, mediaType, answer }) {
      const media = operation.responses[status]?.content?.[mediaType];
      if (media === undefined) return [`${status} with ${mediaType} is not described`];
      return check(['responses', String(status), 'content', mediaType, 'schema'], answer);
    },
    showsExamples: () =>
      Object.values<AnyJson>(operation.responses).some((response) =>
        Object.values<AnyJson>(response.content ?? {}).some(({ examples }) => examples !== undefined),
      ),
  };
}
