import { gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { Request } from 'express';

const zip = promisify(gzip);

/** Bytes. A shorter answer fits into one or two packets anyway. */
const WORTHWHILE = 4_096;

/**
 * Whether a JSON answer is to be compressed. Only what is read: an answer to a change may hold a new key beside what the
 * caller sent, and the length of both together would reveal the key (BREACH).
 */
export function isToBeCompressed(request: Request, status: number, text: string): boolean {
  return (
    request.method === 'GET' &&
    status === 200 &&
    text.length >= WORTHWHILE &&
    request.acceptsEncodings('gzip', 'identity') === 'gzip'
  );
}

/** In a thread of the pool, because large lists would block everyone else. */
export function compress(text: string): Promise<Buffer> {
  return zip(text, { level: 6 });
}
