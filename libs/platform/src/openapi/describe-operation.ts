import type { ErrorCode } from '@gatehouse/contracts';
import type { ErrorFormat } from '../errors/error-format.js';
import { answerOf, failuresOf, type AnswerDescription } from './answers.js';
import type { ContractSchemas } from './contract-schemas.js';
import { failureResponses } from './error-schemas.js';
import type { JsonSchema } from './json-schema.js';
import type { Route } from './routes.js';

/** What is known about one operation of a service before its description is complete. */
export interface OperationFacts {
  readonly method: string;
  readonly open: boolean;
  /** The method of the controller, with its decorators. */
  readonly handler: object;
}

/** What a service adds to operations because of the guards and middleware before its controllers. */
export interface OperationAdditions {
  readonly failures?: readonly ErrorCode[];
  readonly parameters?: readonly JsonSchema[];
}

export interface OperationContext {
  readonly format: ErrorFormat;
  readonly contracts: ContractSchemas | undefined;
  /** Whether the body has a required field; otherwise the body can be absent. */
  readonly needsBody: (requestBody: JsonSchema) => boolean;
  readonly isOpen: (route: Route) => boolean;
  readonly add: (facts: OperationFacts) => OperationAdditions;
}

/**
 * Completes an operation whose route has @Answers: summary, answer, failures. Collects the contract types that it
 * needs. Without @Answers the operation stays as generated.
 */
export function describeOperation(
  operation: JsonSchema,
  method: string,
  route: Route,
  context: OperationContext,
): string[] {
  const answer = answerOf(route.handler);
  if (answer === undefined) return [];
  const open = context.isOpen(route);
  const additions = context.add({ method, open, handler: route.handler });
  operation['summary'] = answer.summary;
  if (open) operation['security'] = [];
  operation['parameters'] = [...parametersOf(operation), ...(additions.parameters ?? [])];
  completeBody(operation, answer, context);
  const codes = [...impliedFailures(operation, open), ...(additions.failures ?? []), ...failuresOf(route.handler)];
  operation['responses'] = { ...success(operation, answer, context), ...failureResponses(codes, context.format) };
  return [answer.type, answer.body].filter((type) => type !== undefined);
}

function parametersOf(operation: JsonSchema): JsonSchema[] {
  const { parameters } = operation;
  return Array.isArray(parameters) ? (parameters as JsonSchema[]) : [];
}

function completeBody(operation: JsonSchema, { body }: AnswerDescription, context: OperationContext): void {
  if (body !== undefined) {
    const schema = contractsOf(context).reference(body);
    operation['requestBody'] = { required: true, content: { 'application/json': { schema } } };
  }
}

function success(operation: JsonSchema, answer: AnswerDescription, context: OperationContext): JsonSchema {
  const before = Object.keys(operation['responses'] as object);
  const status = before.find((candidate) => /^2\d\d$/.test(candidate)) ?? '200';
  const headers = Object.entries(answer.headers ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  if (answer.file === true) headers.push(['Content-Disposition', DISPOSITION]);
  return {
    [status]: {
      description: answer.summary,
      ...(headers.length > 0 ? { headers: Object.fromEntries(headers) as JsonSchema } : {}),
      ...(isEmpty(answer) ? {} : { content: content(answer, context) }),
    },
  };
}

function isEmpty({ type, mediaTypes }: AnswerDescription): boolean {
  return type === undefined && mediaTypes === undefined;
}

const DISPOSITION = { description: 'attachment, with a file name', required: true, schema: { type: 'string' } };

function content({ type, mediaTypes = [] }: AnswerDescription, context: OperationContext): JsonSchema {
  // A schema cannot describe files in other formats any further.
  const others = mediaTypes.map((name) => [name, { schema: name === 'text/plain' ? { type: 'string' } : {} }]);
  const json = type === undefined ? {} : { 'application/json': { schema: contractsOf(context).reference(type) } };
  return { ...json, ...(Object.fromEntries(others) as JsonSchema) };
}

function contractsOf({ contracts }: OperationContext): ContractSchemas {
  if (contracts === undefined) throw new Error('@Answers needs the option `schemas` of the interface description');
  return contracts;
}

/** Failures that follow from the input of an operation. */
function impliedFailures(operation: JsonSchema, open: boolean): ErrorCode[] {
  const codes: ErrorCode[] = ['INVALID_ARGUMENT'];
  if (!open) codes.push('CREDENTIALS_CONFLICT', 'UNAUTHORIZED', 'FORBIDDEN');
  if (parametersOf(operation).some((parameter) => parameter['in'] === 'path')) codes.push('NOT_FOUND');
  if (operation['requestBody'] !== undefined) codes.push('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE');
  codes.push('INTERNAL');
  return codes;
}
