import { addHeader, clientAddress, pendingSource } from '@gatehouse/platform';
import type { INestApplication } from '@nestjs/common';
import type { RequestHandler, Response } from 'express';
import { AddressLimit } from './address-limit.js';
import { limitRefusal } from './limit-refusal.js';
import { EXPOSED_HEADERS } from './rate-limit-fields.js';

const PATH = /^\/api\/(open|public\/openapi)(?:\/|$)/i;
const METHODS = 'GET, HEAD, POST, PATCH, DELETE, OPTIONS';
const ASKED_HEADERS = 'Authorization, Content-Type, X-API-Key, Idempotency-Key, X-Request-Id';

/**
 * What every request to the open API passes before its body is read: the limit of its address, and CORS headers for
 * pages of other sites, which gain nothing from cookies here.
 */
export function openApiEntry(app: INestApplication): RequestHandler {
  const addresses = app.get(AddressLimit, { strict: false });
  return (request, response, next) => {
    // As routes see it: addresses with any scheme, or such as /api\open#, also lead to them.
    const place = PATH.exec(request.path)?.[1];
    if (place === undefined) return next();
    const open = place.length === 4;
    if (open) addHeader(response, 'Cache-Control', 'no-store');
    if (open && request.headers.origin !== undefined) allowOrigin(response);
    if (open && request.method === 'OPTIONS') return answerPreflight(response);
    const count = (): void => {
      const wait = addresses.hit(clientAddress(request).key);
      next(wait === 0 ? undefined : refusal(addresses.quota, wait));
    };
    const source = pendingSource(request);
    if (source === undefined) count();
    else void source.finally(count);
  };
}

function refusal(quota: number, retryAfterMs: number): Error {
  const limit = { name: 'address', quota, windowMs: 60_000, resetMs: 60_000 };
  return limitRefusal({ code: 'GLOBAL_RATE_LIMIT_EXCEEDED', scope: 'global', retryAfterMs, limit });
}

function allowOrigin(response: Response): void {
  response
    .setHeader('Access-Control-Allow-Origin', '*')
    .setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS)
    // A page of another site may read the answer to an allowed request.
    .setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
}

function answerPreflight(response: Response): void {
  response
    .setHeader('Access-Control-Allow-Origin', '*')
    .setHeader('Access-Control-Allow-Methods', METHODS)
    .setHeader('Access-Control-Allow-Headers', ASKED_HEADERS)
    .setHeader('Access-Control-Max-Age', '86400')
    .status(204)
    .end();
}
