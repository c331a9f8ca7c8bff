import { errorEntry, type ErrorCode } from '@gatehouse/contracts';
import type { ErrorFormat } from '../errors/error-format.js';
import type { JsonSchema } from './json-schema.js';

const TEXT: JsonSchema = { type: 'string' };
const OPTIONAL_TEXT: JsonSchema = { type: ['string', 'null'] };
const DETAILS: JsonSchema = {
  type: 'array',
  items: { type: 'object', required: ['field', 'message'], properties: { field: TEXT, message: TEXT } },
};

const SCHEMAS: Record<ErrorFormat, JsonSchema> = {
  proxy: {
    type: 'object',
    required: ['error', 'code', 'request_id'],
    properties: { error: TEXT, code: TEXT, details: DETAILS, request_id: OPTIONAL_TEXT },
  },
  envelope: {
    type: 'object',
    required: ['success', 'code', 'message', 'description', 'data'],
    properties: {
      success: { type: 'boolean', const: false },
      code: TEXT,
      message: TEXT,
      description: TEXT,
      data: { type: 'null' },
      details: DETAILS,
      retry_after_seconds: { type: 'integer' },
      request_id: OPTIONAL_TEXT,
    },
  },
  problem: {
    type: 'object',
    required: ['type', 'title', 'status', 'code', 'detail'],
    properties: {
      type: TEXT,
      title: TEXT,
      status: { type: 'integer' },
      code: TEXT,
      detail: TEXT,
      errors: DETAILS,
      request_id: OPTIONAL_TEXT,
    },
  },
};

const HEADERS: Readonly<Record<number, Record<string, JsonSchema>>> = {
  401: { 'WWW-Authenticate': { description: 'RFC 6750 section 3', schema: TEXT } },
  429: { 'Retry-After': { description: 'Seconds', required: true, schema: { type: 'integer', minimum: 1 } } },
};

/** The service's error body, for `components.schemas.Error`. */
export function errorSchema(format: ErrorFormat): JsonSchema {
  return SCHEMAS[format];
}

/** The answer for a failure without a more specific description. */
export function anyFailure(format: ErrorFormat): JsonSchema {
  return response('Any failure; docs/errors.md lists the codes', { $ref: '#/components/schemas/Error' }, format);
}

/** One response for each status of the codes, with the codes that it can have. */
export function failureResponses(codes: Iterable<ErrorCode>, format: ErrorFormat): Record<string, JsonSchema> {
  const byStatus = Map.groupBy(new Set(codes), (code) => errorEntry(code).status);
  const responses: Record<string, JsonSchema> = {};
  for (const [status, own] of byStatus) {
    const description = own.map((code) => `${wireCode(code, format)}: ${errorEntry(code).title}`).join('. ');
    const headers = HEADERS[status];
    responses[status] = {
      ...response(description, codedError(own, format), format),
      ...(headers === undefined ? {} : { headers }),
    };
  }
  return responses;
}

function codedError(codes: readonly ErrorCode[], format: ErrorFormat): JsonSchema {
  const reference = { $ref: '#/components/schemas/Error' };
  // The envelope has its own codes, which are less specific.
  if (format === 'envelope') return reference;
  const allowed = { properties: { code: { enum: codes.map((code) => wireCode(code, format)) } } };
  return { allOf: [reference, allowed] };
}

function wireCode(code: ErrorCode, format: ErrorFormat): string {
  return format === 'problem' ? code.toLowerCase() : code;
}

function response(description: string, schema: JsonSchema, format: ErrorFormat): JsonSchema {
  return {
    description,
    content: { [format === 'problem' ? 'application/problem+json' : 'application/json']: { schema } },
  };
}
