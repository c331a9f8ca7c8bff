import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, getSchemaPath } from '@nestjs/swagger';

/** Describes a success in the envelope, with `data` of the given class or null. */
export function ApiEnvelope(data?: Type): MethodDecorator & ClassDecorator {
  const text = { type: 'string' } as const;
  const schema = {
    type: 'object',
    required: ['success', 'code', 'message', 'data'],
    properties: {
      success: { type: 'boolean' },
      code: text,
      message: text,
      data: data === undefined ? { type: 'null' } : { $ref: getSchemaPath(data) },
    },
  } as const;
  const response = ApiOkResponse({ schema: schema as never });
  return data === undefined ? applyDecorators(response) : applyDecorators(ApiExtraModels(data), response);
}
