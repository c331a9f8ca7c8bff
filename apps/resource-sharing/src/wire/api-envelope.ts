import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtraModels, ApiOkResponse, getSchemaPath } from '@nestjs/swagger';

const TEXT = { type: 'string' } as const;
const COUNT = { type: 'integer', minimum: 0 } as const;

/** Describes a success in the envelope, with `data` of the given class or null. */
export function ApiEnvelope(data?: Type): MethodDecorator & ClassDecorator {
  return described(data, data === undefined ? { type: 'null' } : { $ref: getSchemaPath(data) });
}

/** Describes a success whose `data` is an array without `meta`. */
export function ApiEnvelopeArray(item: Type): MethodDecorator & ClassDecorator {
  return described(item, { type: 'array', items: { $ref: getSchemaPath(item) } });
}

/** Describes a success whose `data` is a list; `paged` ones say in `meta` which page they are, always or when a page was asked for. */
export function ApiEnvelopeList(
  item: Type,
  { paged = false }: { paged?: boolean | 'when asked' } = {},
): MethodDecorator & ClassDecorator {
  const properties = paged === false ? { total: COUNT } : { total: COUNT, page: COUNT, page_size: COUNT };
  const required = paged === true ? Object.keys(properties) : ['total'];
  const meta = { type: 'object', required, properties };
  return described(item, { type: 'array', items: { $ref: getSchemaPath(item) } }, { meta });
}

function described(model: Type | undefined, data: object, more: object = {}): MethodDecorator & ClassDecorator {
  const schema = {
    type: 'object',
    required: ['success', 'code', 'message', 'data', ...Object.keys(more)],
    properties: { success: { type: 'boolean' }, code: TEXT, message: TEXT, data, ...more },
  };
  const response = ApiOkResponse({ schema: schema as never });
  return model === undefined ? applyDecorators(response) : applyDecorators(ApiExtraModels(model), response);
}
