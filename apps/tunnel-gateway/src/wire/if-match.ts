import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { readIfMatch, type ExpectedVersion } from './row-version.js';

/** The version that If-Match says (RFC 9110 section 13.1.1); null without it. */
export const IfMatch = createParamDecorator((_data: unknown, context: ExecutionContext): ExpectedVersion | null =>
  readIfMatch(context.switchToHttp().getRequest<Request>().headers['if-match']),
);
