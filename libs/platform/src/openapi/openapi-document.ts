import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import type { ErrorFormat } from '../errors/error-format.js';
import { codeSamples } from './code-samples.js';
import { ContractSchemas } from './contract-schemas.js';
import {
  describeOperation,
  type OperationAdditions,
  type OperationContext,
  type OperationFacts,
} from './describe-operation.js';
import { anyFailure, errorSchema } from './error-schemas.js';
import { addDescriptions, addExamples, type OperationExample } from './examples.js';
import { requestParameters, requestSchemas } from './generated-schemas.js';
import { isSchema, referencesIn, type JsonSchema } from './json-schema.js';
import { operationId, routesOf, type Route } from './routes.js';
import { describeValidatedClasses } from './validated-classes.js';

export interface OpenApiOptions {
  /** Where the document is served, such as /api/v1/openapi.json. */
  readonly path: string;
  readonly title: string;
  readonly description?: string;
  readonly version?: string;
  /** Name of the session cookie, if cookies are accepted. */
  readonly cookie?: string;
  /** Whether X-API-Key is accepted; `named`: only by operations that say so with @ApiSecurity('api_key'). Default: true. */
  readonly apiKeys?: boolean | 'named';
  /** File with the schemas of the service's contract types, which @Answers names. */
  readonly schemas?: URL;
  /** Whether a route needs no credentials. Default: every route does. */
  readonly isOpen?: (route: Route) => boolean;
  /** What stands before the controllers and affects their operations. */
  readonly additions?: (facts: OperationFacts) => OperationAdditions;
  /** Names and descriptions of groups of operations, in reading order. */
  readonly tags?: readonly { readonly name: string; readonly description: string }[];
  /** Descriptions of operations beyond their summaries, by operation id; read when the document is requested. */
  readonly descriptions?: () => Promise<Readonly<Record<string, string>>>;
  /** Examples by operation; read when the document is requested. */
  readonly examples?: () => Promise<readonly OperationExample[]>;
  /** Other documents that are made from this one. */
  readonly derived?: readonly DerivedDocument[];
}

/** The same interface in the format of another tool. */
export interface DerivedDocument {
  /** Where it is served. */
  readonly path: string;
  readonly make: (document: OpenAPIObject, app: INestApplication) => Promise<object>;
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;

/**
 * The OpenAPI 3.1 document of an application. Loads the generator on first use, because a running service rarely needs
 * it.
 */
export async function createOpenApiDocument(
  app: INestApplication,
  options: OpenApiOptions,
  format: ErrorFormat,
): Promise<OpenAPIObject> {
  const { DocumentBuilder, SwaggerModule } = await import('@nestjs/swagger');
  await describeValidatedClasses();
  const builder = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle(options.title)
    .setDescription(options.description ?? '')
    .setVersion(options.version ?? '1')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }, 'bearer');
  const requirements: Record<string, string[]>[] = [{ bearer: [] }];
  if (options.apiKeys !== false) {
    builder.addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key' }, 'api_key');
    if (options.apiKeys !== 'named') requirements.push({ api_key: [] });
  }
  if (options.cookie !== undefined) {
    builder.addCookieAuth(options.cookie, { type: 'apiKey', in: 'cookie', name: options.cookie }, 'session');
    requirements.push({ session: [] });
  }
  const document = SwaggerModule.createDocument(app, builder.build(), { operationIdFactory: operationId });
  document.security = requirements;
  document.tags = (options.tags ?? []).map((tag) => ({ ...tag }));
  await completeDocument(document as unknown as JsonSchema, app, options, format);
  return document;
}

async function completeDocument(
  document: JsonSchema,
  app: INestApplication,
  options: OpenApiOptions,
  format: ErrorFormat,
): Promise<void> {
  const contracts = options.schemas === undefined ? undefined : await ContractSchemas.read(options.schemas);
  const components = (document['components'] ??= {}) as JsonSchema;
  components['schemas'] = {
    ...requestSchemas((components['schemas'] ?? {}) as JsonSchema),
    Error: errorSchema(format),
  };
  components['responses'] = { Error: anyFailure(format) };
  const types = describeOperations(document, routesOf(app), {
    format,
    contracts,
    needsBody: (requestBody) => hasRequiredFields(requestBody, components['schemas'] as JsonSchema),
    isOpen: options.isOpen ?? (() => false),
    add: options.additions ?? (() => ({})),
  });
  Object.assign(components['schemas'] as object, contracts?.reachableFrom(types));
  if (options.descriptions !== undefined) addDescriptions(operationsOf(document), await options.descriptions());
  if (options.examples !== undefined) addExamples(operationsOf(document), await options.examples());
  for (const { path, method, operation } of operationsOf(document)) {
    operation['x-codeSamples'] = codeSamples(method, path, operation, document['security']);
  }
}

/** An absent body is read as an object without fields. */
function hasRequiredFields(requestBody: JsonSchema, schemas: JsonSchema): boolean {
  return referencesIn(requestBody).some((reference) => {
    const schema = schemas[reference.slice(reference.lastIndexOf('/') + 1)];
    return isSchema(schema) && needsFields(schema);
  });
}

/** Whether the schema refuses an object without fields. */
function needsFields({ required, minProperties, anyOf }: JsonSchema): boolean {
  if (Array.isArray(required) || (typeof minProperties === 'number' && minProperties > 0)) return true;
  return Array.isArray(anyOf) && anyOf.every((choice) => isSchema(choice) && needsFields(choice));
}

function describeOperations(document: JsonSchema, routes: Map<string, Route>, context: OperationContext): Set<string> {
  const types = new Set<string>();
  for (const { method, operation } of operationsOf(document)) {
    operation['parameters'] = requestParameters(operation['parameters']);
    const { requestBody } = operation;
    if (isSchema(requestBody)) requestBody['required'] = context.needsBody(requestBody);
    const route = routes.get(String(operation['operationId']));
    if (route !== undefined) describeOperation(operation, method, route, context).forEach((type) => types.add(type));
    const responses = operation['responses'] as JsonSchema;
    const hasFailures = Object.keys(responses).some((status) => /^[45]/.test(status));
    if (!hasFailures) responses['default'] ??= { $ref: '#/components/responses/Error' };
  }
  return types;
}

function operationsOf(document: JsonSchema): { path: string; method: string; operation: JsonSchema }[] {
  return Object.entries(document['paths'] as Record<string, JsonSchema>).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return isSchema(operation) ? [{ path, method, operation }] : [];
    }),
  );
}
