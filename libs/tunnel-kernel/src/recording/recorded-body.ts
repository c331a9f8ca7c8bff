import { isUtf8 } from 'node:buffer';
import { brotliDecompressSync, constants, gunzipSync, inflateSync } from 'node:zlib';
import type { RecordedBody } from './recorded-request.js';
import { maskBody } from './secrets.js';

/** Bytes that are kept of a body, as it passed and unpacked. */
export const MAX_BODY_BYTES = 64 * 1024;

/** What is known of a body from the head of its message. */
export interface BodyType {
  type: string;
  /** `Content-Encoding`; empty: none. */
  coding: string;
}

/** The beginning of a body, while it passes and after that. */
export class BodyRecorder {
  private parts: Buffer[] = [];
  private size = 0;
  private truncated = false;
  private unpacked = false;
  private hasSecrets = false;
  /** Set at the end. */
  private kept: Buffer | null = null;

  /** Keeps a copy: a part belongs to whoever reads it next. Returns how many bytes were kept. */
  take(part: Buffer): number {
    const room = MAX_BODY_BYTES - this.size;
    if (part.length > room) this.truncated = true;
    if (room <= 0 || part.length === 0) return 0;
    const copy = Buffer.from(part.subarray(0, room));
    this.parts.push(copy);
    this.size += copy.length;
    return copy.length;
  }

  /** Masks what was kept. Returns by how many bytes it grew. */
  end(type: BodyType): number {
    if (this.kept || this.size === 0) return 0;
    const kept = this.masked(type);
    const grown = (kept?.length ?? 0) - this.size;
    this.kept = kept ?? EMPTY;
    this.parts = [];
    return grown;
  }

  /** Null: there is none, or none that may be shown. */
  view(type: BodyType): RecordedBody | null {
    const kept = this.kept ?? (this.size === 0 ? null : this.masked(type));
    if (!kept || kept.length === 0) return null;
    const { truncated, unpacked, hasSecrets: masked } = this;
    const end = truncated ? wholeCharacters(kept) : kept.length;
    const isText = !kept.includes(0) && isUtf8(kept.subarray(0, end));
    if (isText) return { content: kept.toString('utf8', 0, end), encoding: 'utf8', truncated, unpacked, masked };
    return { content: kept.toString('base64'), encoding: 'base64', truncated, unpacked, masked };
  }

  private masked({ type, coding }: BodyType): Buffer | null {
    const [first = EMPTY] = this.parts;
    const plain = this.unpack(this.parts.length === 1 ? first : Buffer.concat(this.parts), coding);
    if (!plain) return null;
    const text = plain.toString('latin1');
    const masked = maskBody(text, type);
    if (masked === text) return plain;
    this.hasSecrets = true;
    return Buffer.from(masked, 'latin1');
  }

  /** Null: it is compressed in a way that cannot be read, so that secrets would stay in it. */
  private unpack(body: Buffer, coding: string): Buffer | null {
    const name = coding.trim().toLowerCase();
    if (name === '' || name === 'identity') return body;
    try {
      const plain = unpackedWith(name, body);
      this.unpacked = true;
      if (plain.length > MAX_BODY_BYTES) this.truncated = true;
      return plain.subarray(0, MAX_BODY_BYTES);
    } catch {
      // An unknown coding, or one that unpacks to far more than it may.
      return null;
    }
  }
}

const EMPTY = Buffer.alloc(0);
/** A compressed body is at most this many times as long. */
const MAX_UNPACKED_BYTES = 16 * MAX_BODY_BYTES;

/** @throws Error for another coding, and for what is not compressed with it. A cut body is unpacked as far as it goes. */
function unpackedWith(coding: string, body: Buffer): Buffer {
  const maxOutputLength = MAX_UNPACKED_BYTES;
  const cut = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength };
  if (coding === 'gzip' || coding === 'x-gzip') return gunzipSync(body, cut);
  if (coding === 'deflate') return inflateSync(body, cut);
  if (coding === 'br') {
    return brotliDecompressSync(body, { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength });
  }
  throw new RangeError(coding);
}

/** The length without a character that was cut. */
function wholeCharacters(text: Buffer): number {
  let at = text.length;
  for (let back = 1; back <= 4 && back <= text.length; back++) {
    const byte = text[text.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) {
      const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      if (needs > back) at = text.length - back;
      break;
    }
  }
  return at;
}
