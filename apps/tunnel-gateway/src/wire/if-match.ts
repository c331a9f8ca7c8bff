import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { readIfMatch, type ExpectedVersion } from './row-version.js';

const READS_IF_MATCH = 'tunnel-gateway:reads-if-match';

const expectedVersion = createParamDecorator((_data: unknown, context: ExecutionContext): ExpectedVersion | null =>
  readIfMatch(context.switchToHttp().getRequest<Request>().headers['if-match']),
);

/** The version in If-Match (RFC 9110 section 13.1.1); null without it. Also documents the header. */
export function IfMatch(): ParameterDecorator {
  const read = expectedVersion();
  return (controller, name, index) => {
    read(controller, name, index);
    const handler: unknown = name === undefined ? undefined : Reflect.get(controller, name);
    if (typeof handler === 'function') Reflect.defineMetadata(READS_IF_MATCH, true, handler);
  };
}

export function readsIfMatch(handler: object): boolean {
  return Reflect.getMetadata(READS_IF_MATCH, handler) === true;
}
