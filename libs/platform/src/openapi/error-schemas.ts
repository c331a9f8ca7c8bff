import type { OpenAPIObject } from '@nestjs/swagger';
import type { ErrorFormat } from '../errors/error-format.js';

type Schema = Record<string, unknown>;

const TEXT: Schema = { type: 'string' };
const OPTIONAL_TEXT: Schema = { type: ['string', 'null'] };
const DETAILS: Schema = {
  type: 'array',
  items: { type: 'object', required: ['field', 'message'], properties: { field: TEXT, message: TEXT } },
};

const SCHEMAS: Record<ErrorFormat, Schema> = {
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

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch'] as const;

/** Adds the service's error body as the default response of every operation. */
export function describeErrors(document: OpenAPIObject, format: ErrorFormat): OpenAPIObject {
  const mediaType = format === 'problem' ? 'application/problem+json' : 'application/json';
  const response = {
    description: 'Any failure; docs/errors.md lists the codes',
    content: { [mediaType]: { schema: { $ref: '#/components/schemas/Error' } } },
  };
  document.components ??= {};
  document.components.schemas = { ...document.components.schemas, Error: SCHEMAS[format] };
  document.components.responses = { ...document.components.responses, Error: response };
  for (const item of Object.values(document.paths)) {
    for (const method of METHODS) {
      const operation = item[method];
      if (operation !== undefined) operation.responses['default'] ??= { $ref: '#/components/responses/Error' };
    }
  }
  return document;
}
