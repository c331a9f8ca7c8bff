import type { Response } from 'express';

/**
 * Whether the client already has the answer: its If-None-Match contains the ETag that was set (RFC 9110 section 13.1.2,
 * weak comparison). `Cache-Control: no-cache` does not need a full answer: this is the origin, and fetch always sends
 * it.
 */
export function isKnownAnswer(response: Response): boolean {
  const { req } = response;
  const known = req.headers['if-none-match'];
  if (known === undefined || (req.method !== 'GET' && req.method !== 'HEAD')) return false;
  const tag = response.getHeader('ETag');
  if (typeof tag !== 'string') return false;
  return known.trim() === '*' || known.split(',').some((each) => opaque(each.trim()) === opaque(tag));
}

function opaque(tag: string): string {
  return tag.startsWith('W/') ? tag.slice(2) : tag;
}
