import type { Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw, createZstdDecompress } from 'node:zlib';
import { readAtMost } from '@gatehouse/net';
import { FetchFailure } from './fetch-failure.js';

export interface BoundedBody {
  content: Buffer;
  /** Size as received, before decompression. */
  receivedBytes: number;
}

/** The most encodings accepted on one body; honest servers use fewer. */
const MAX_CODINGS = 3;

function decoder(coding: string, firstByte: number): Transform {
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip();
    case 'br':
      return createBrotliDecompress();
    case 'zstd':
      return createZstdDecompress();
    case 'deflate':
      // RFC 9110 requires the zlib format, but some servers send raw deflate. A zlib header has 8 in its low nibble.
      return (firstByte & 0x0f) === 8 ? createInflate() : createInflateRaw();
    default:
      throw new FetchFailure('bad_encoding', `The reply is encoded as "${coding.slice(0, 40)}", which is not known.`);
  }
}

function codings(contentEncoding: string): string[] {
  const list = contentEncoding
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim())
    .filter((coding) => coding !== '' && coding !== 'identity');
  if (list.length > MAX_CODINGS) throw new FetchFailure('bad_encoding', 'The reply has too many encodings.');
  return list;
}

async function collect(chunks: AsyncIterable<Buffer>, maxBytes: number, what: string): Promise<Buffer> {
  const content = await readAtMost(chunks, maxBytes);
  if (content === null) throw new FetchFailure('too_large', `The ${what} is larger than ${maxBytes} bytes.`);
  return content;
}

async function decode(content: Buffer, coding: string, maxBytes: number): Promise<Buffer> {
  const stream = decoder(coding, content[0] ?? 0);
  stream.end(content);
  try {
    return await collect(stream, maxBytes, 'decompressed reply');
  } catch (error) {
    if (error instanceof FetchFailure) throw error;
    throw new FetchFailure('bad_encoding', `The reply is not valid ${coding}.`, { cause: error });
  } finally {
    stream.destroy();
  }
}

/**
 * Reads a whole body of at most `maxBytes`, both before and after each decompression.
 * @throws FetchFailure `too_large` rather than cutting it, `bad_encoding` if it cannot be decompressed.
 */
export async function readBounded(body: Readable, contentEncoding: string, maxBytes: number): Promise<BoundedBody> {
  const layers = codings(contentEncoding).reverse();
  const received = await collect(body, maxBytes, 'reply');
  let content = received;
  for (const coding of received.length === 0 ? [] : layers) content = await decode(content, coding, maxBytes);
  return { content, receivedBytes: received.length };
}
