import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { runInRequestContext } from '../logging/request-context.js';

/** Short and printable: anything else could forge log lines or fill them. */
const SANE_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{7,99}$/;

/** Takes a sane X-Request-Id or makes one, echoes it, and keeps it for every log line of the request. */
export function requestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.headers['x-request-id'];
  const id = typeof given === 'string' && SANE_ID.test(given) ? given : randomUUID();
  response.setHeader('X-Request-Id', id);
  runInRequestContext({ requestId: id }, next);
}
