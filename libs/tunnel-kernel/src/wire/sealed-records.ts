import { createCipheriv, createDecipheriv, hkdfSync, type DecipherGCM } from 'node:crypto';
import { CountedGcm, MAX_COUNTED_BYTES, type NonceSequence } from '@gatehouse/net';
import { protocolError, type TunnelError } from '../errors.js';
import type { ChannelTicket } from './messages.js';
import { SplitRecord } from './split-record.js';

/** As for packets: with 128 bits it costs the same, ChaCha20-Poly1305 half as much again (decision 0030). */
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const COUNTER_BYTES = 6;
const LENGTH_BYTES = 3;
const TAG_BYTES = 16;
/** Length of the plain bytes, then the tag; the sealed bytes follow. */
export const RECORD_HEAD_BYTES = LENGTH_BYTES + TAG_BYTES;
/** Plain bytes of the longest record that may be sent to everybody. */
export const COMMON_RECORD_BYTES = 32 * 1024;
/** Plain bytes of the longest record: as many as are read at a time, because each record costs a cipher object and a write. */
export const MAX_RECORD_BYTES = 256 * 1024;
/** Up to this size, one buffer for head and bytes is cheaper than two. */
const JOINED_BYTES = 4096;
/** The key of a direction is replaced after this many records or plain bytes. With `COMMON_RECORD_BYTES` the records come first. */
const KEY_LIMITS: KeyLimits = { records: 2 ** 24, bytes: 2 ** 39 };
/** Records of a direction before short ones are sealed without a cipher object each: a single one would not pay for it. */
const RECORDS_BEFORE_COUNTED = 2;
const NOTHING: Buffer = Buffer.alloc(0);

export interface ChannelKeys {
  /** For what the agent sends. */
  agent: Buffer;
  server: Buffer;
}

interface KeyLimits {
  records: number;
  bytes: number;
}

/** Keys of one data channel, one for each direction (HKDF, RFC 5869). */
export function channelKeys({ id, key }: ChannelTicket): ChannelKeys {
  const material = Buffer.from(hkdfSync('sha256', key, id, 'gatehouse channel', 2 * KEY_BYTES));
  return { agent: material.subarray(0, KEY_BYTES), server: material.subarray(KEY_BYTES) };
}

/** A 96-bit big-endian counter, of which no direction needs more than 48 bits. */
const nonces: NonceSequence = {
  write: (number, into, at) => {
    into.fill(0, at, at + NONCE_BYTES - COUNTER_BYTES);
    into.writeUIntBE(number, at + NONCE_BYTES - COUNTER_BYTES, COUNTER_BYTES);
  },
};

/** The key of one direction and the number of its next record: no pair of them is used twice. */
class RecordKey {
  key: Buffer;
  readonly nonce = Buffer.alloc(NONCE_BYTES);
  /** Of the record for which `next` was called last. */
  number = -1;
  private readonly limits: KeyLimits;
  /** Plain bytes of the records that this key has sealed. */
  private bytes = 0;
  private counted: CountedGcm | null = null;

  constructor(key: Buffer, limits: KeyLimits) {
    this.key = key;
    this.limits = limits;
  }

  /** Goes on to the next record, of this many bytes. Returns its cipher, or null: then it is Node's with `key` and `nonce`. */
  next(bytes: number): CountedGcm | null {
    this.number += 1;
    const isFull = (this.number % this.limits.records === 0 && this.number > 0) || this.bytes >= this.limits.bytes;
    if (isFull) this.replace();
    this.bytes += bytes;
    if (bytes > MAX_COUNTED_BYTES || this.number < RECORDS_BEFORE_COUNTED) {
      nonces.write(this.number, this.nonce, 0);
      return null;
    }
    this.counted ??= new CountedGcm(this.key, nonces);
    return this.counted;
  }

  /** Erases what was derived from the key in advance: no more records come. */
  close(): void {
    this.counted?.erase();
  }

  private replace(): void {
    this.key = Buffer.from(hkdfSync('sha256', this.key, NOTHING, 'gatehouse channel next', KEY_BYTES));
    this.bytes = 0;
    this.counted?.erase();
    this.counted = null;
  }
}

/** The parts of a record: a single buffer, or head and sealed bytes. */
export type SealedRecord = [record: Buffer] | [head: Buffer, sealed: Buffer];

/**
 * Seals the records of one direction (AES-256-GCM; the record's number is the nonce, its length is authenticated). Short ones take
 * `CountedGcm`, of which the other side need not know.
 */
export class RecordSealer {
  private readonly key: RecordKey;

  constructor(key: Buffer, limits = KEY_LIMITS) {
    this.key = new RecordKey(key, limits);
  }

  /** Up to `MAX_RECORD_BYTES`; an empty record ends the direction. Keeps no reference to `plain`. */
  seal(plain: Uint8Array): SealedRecord {
    const counted = this.key.next(plain.length);
    const head = Buffer.allocUnsafe(RECORD_HEAD_BYTES + (plain.length > JOINED_BYTES ? 0 : plain.length));
    head.writeUIntBE(plain.length, 0, LENGTH_BYTES);
    if (counted) {
      // The tag is behind the text; in a record it is before it.
      const both = counted.seal(this.key.number, plain, head.subarray(0, LENGTH_BYTES));
      both.copy(head, LENGTH_BYTES, plain.length);
      both.copy(head, RECORD_HEAD_BYTES, 0, plain.length);
      return [head];
    }
    const cipher = createCipheriv(CIPHER, this.key.key, this.key.nonce);
    cipher.setAAD(head.subarray(0, LENGTH_BYTES));
    const sealed = cipher.update(plain);
    cipher.final();
    cipher.getAuthTag().copy(head, LENGTH_BYTES);
    if (plain.length > JOINED_BYTES) return [head, sealed];
    sealed.copy(head, RECORD_HEAD_BYTES);
    return [head];
  }

  /** Erases what it made in advance. It cannot seal afterwards. */
  close(): void {
    this.key.close();
  }
}

/** Opens the records of the other direction, split in any way. */
export class RecordOpener {
  private readonly key: RecordKey;
  private open: (plain: Buffer) => void;
  /** An incomplete short record; at first only its head. */
  private partial = NOTHING;
  private filled = 0;
  private total = 0;
  /** An incomplete long record. */
  private split: SplitRecord | null = null;

  /** `open`: called with the bytes of each record, in parts if it is long; an empty one is the end. */
  constructor(key: Buffer, open: (plain: Buffer) => void, limits = KEY_LIMITS) {
    this.key = new RecordKey(key, limits);
    this.open = open;
  }

  /**
   * Keeps no reference to `chunk`. @throws TunnelError `protocol` for anything that was not sealed with the key in this
   * order.
   */
  read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) at += this.readPart(chunk, at);
  }

  /** Delivers the following records to another stream. */
  openTo(open: (plain: Buffer) => void): void {
    this.open = open;
  }

  /** Whether a part of a record is missing. */
  get isWithin(): boolean {
    return this.filled > 0 || this.split !== null;
  }

  /** Releases its memory: no more bytes will come. */
  close(): void {
    this.split?.close();
    this.split = null;
    this.partial = NOTHING;
    this.filled = 0;
    this.key.close();
  }

  /** Returns the number of bytes that were used. */
  private readPart(chunk: Buffer, at: number): number {
    if (this.split) return this.continueSplit(this.split, chunk, at);
    if (this.filled > 0 || chunk.length - at < RECORD_HEAD_BYTES) return this.collect(chunk, at);
    const total = recordBytes(chunk, at);
    if (at + total <= chunk.length) {
      this.openRecord(chunk.subarray(at, at + total));
      return total;
    }
    if (!isLong(total)) return this.collect(chunk, at);
    this.beginSplit(chunk.subarray(at, at + RECORD_HEAD_BYTES));
    return RECORD_HEAD_BYTES;
  }

  private beginSplit(head: Buffer): void {
    const bytes = head.readUIntBE(0, LENGTH_BYTES);
    this.key.next(bytes);
    this.split = new SplitRecord(decipherOf(this.key, head), bytes);
  }

  private continueSplit(split: SplitRecord, chunk: Buffer, at: number): number {
    const taken = split.take(chunk, at);
    if (!split.isWhole) return taken;
    this.split = null;
    split.close();
    const parts = split.open();
    if (parts === null) throw notSealed();
    for (const part of parts) this.open(part);
    return taken;
  }

  private collect(chunk: Buffer, at: number): number {
    if (this.filled === 0) {
      this.partial = Buffer.allocUnsafe(RECORD_HEAD_BYTES);
      this.total = RECORD_HEAD_BYTES;
    }
    const taken = chunk.copy(this.partial, this.filled, at, at + this.total - this.filled);
    this.filled += taken;
    if (this.filled === this.total) this.collected();
    return taken;
  }

  private collected(): void {
    const { partial } = this;
    const total = recordBytes(partial, 0);
    if (this.total < total && !isLong(total)) {
      this.partial = Buffer.allocUnsafe(total);
      partial.copy(this.partial);
      this.total = total;
      return;
    }
    this.filled = 0;
    this.partial = NOTHING;
    if (isLong(total)) this.beginSplit(partial);
    else this.openRecord(partial);
  }

  private openRecord(record: Buffer): void {
    const sealed = record.subarray(RECORD_HEAD_BYTES);
    const counted = this.key.next(sealed.length);
    const plain = counted
      ? counted.open(this.key.number, sealed, tagIn(record), lengthIn(record))
      : openWithNode(decipherOf(this.key, record), sealed);
    if (plain === null) throw notSealed();
    this.open(plain);
  }
}

function lengthIn(head: Buffer): Buffer {
  return head.subarray(0, LENGTH_BYTES);
}

function tagIn(head: Buffer): Buffer {
  return head.subarray(LENGTH_BYTES, RECORD_HEAD_BYTES);
}

function decipherOf({ key, nonce }: RecordKey, head: Buffer): DecipherGCM {
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(lengthIn(head));
  decipher.setAuthTag(tagIn(head));
  return decipher;
}

/** Null if it was not sealed with this key, nonce and length. */
function openWithNode(decipher: DecipherGCM, sealed: Buffer): Buffer | null {
  const plain = decipher.update(sealed);
  try {
    decipher.final();
    return plain;
  } catch {
    return null;
  }
}

/** Whether a record of this size is worth deciphering in pieces. */
function isLong(total: number): boolean {
  return total > RECORD_HEAD_BYTES + JOINED_BYTES;
}

/** The size of a whole record, from its head. @throws TunnelError `protocol`. */
function recordBytes(head: Buffer, at: number): number {
  const length = head.readUIntBE(at, LENGTH_BYTES);
  if (length > MAX_RECORD_BYTES) throw protocolError('a record that is too long');
  return RECORD_HEAD_BYTES + length;
}

function notSealed(): TunnelError {
  return protocolError('a record that was not sealed for this place');
}
