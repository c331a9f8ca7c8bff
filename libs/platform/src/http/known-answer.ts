import type { Response } from 'express';

/**
 * Whether the client has the answer already: its If-None-Match names the ETag that was set (RFC 9110 section 13.1.2, weak
 * comparison). `Cache-Control: no-cache` is no reason to answer in full: this is the origin, and fetch sends it along.
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
