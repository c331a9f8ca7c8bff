import type { Response } from 'express';

/** RFC 6749 section 5.1. */
export function neverStored(response: Response): Response {
  return response.setHeader('Cache-Control', 'no-store').setHeader('Pragma', 'no-cache');
}

/** Pages of public applications call these addresses themselves; cookies are ignored here. */
export function fromAnyOrigin(response: Response): Response {
  return response.setHeader('Access-Control-Allow-Origin', '*');
}

/** Answers a browser's preflight request (Fetch standard). */
export function answerPreflight(response: Response, methods: string): void {
  fromAnyOrigin(response)
    .setHeader('Access-Control-Allow-Methods', methods)
    .setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, X-API-Key')
    .setHeader('Access-Control-Max-Age', '86400')
    .status(204)
    .end();
}
