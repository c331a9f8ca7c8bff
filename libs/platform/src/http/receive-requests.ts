import { randomUUID } from 'node:crypto';
import type { Request, RequestHandler } from 'express';
import { runInRequestContext } from '../logging/request-context.js';
import { beginExchange, Exchange, type AnswerObserver } from './exchange.js';
import { SECURITY_HEADERS, STRICT_TRANSPORT } from './security-headers.js';
import { traceRequest } from './trace-request.js';

/** Short and printable: other values could forge log lines or fill them. */
const SANE_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{7,99}$/;

/**
 * What every request meets first: its id (a sane X-Request-Id or a new one, echoed and kept for every log line), the
 * security headers, the observers of all answers, and the span of its trace.
 */
export function receiveRequests(observerOf: (request: Request) => AnswerObserver): RequestHandler {
  return (request, response, next) => {
    const exchange = new Exchange(idOf(request), SECURITY_HEADERS.slice(), request.headers['accept-language']);
    exchange.headers.push('X-Request-Id', exchange.requestId);
    if (isSecure(request)) exchange.headers.push(...STRICT_TRANSPORT);
    beginExchange(response, exchange);
    exchange.observe(observerOf(request));
    traceRequest(request, exchange, () => runInRequestContext(exchange, next));
  };
}

function idOf({ headers }: Request): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && SANE_ID.test(given) ? given : randomUUID();
}

/** Over TLS, here or according to a trusted proxy. */
function isSecure(request: Request): boolean {
  const isAsked = 'encrypted' in request.socket || request.headers['x-forwarded-proto'] !== undefined;
  return isAsked && request.secure;
}
