import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { CountedGcm, MAX_COUNTED_BYTES, type NonceSequence } from '@gatehouse/net';
import { protocolError } from '../errors.js';
import type { ChannelTicket } from './messages.js';

/** As for packets: with 128 bits it costs the same, ChaCha20-Poly1305 half as much again (decision 0030). */
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const COUNTER_BYTES = 6;
const LENGTH_BYTES = 3;
const TAG_BYTES = 16;
/** Length of the plain bytes, then the tag; the sealed bytes follow. */
export const RECORD_HEAD_BYTES = LENGTH_BYTES + TAG_BYTES;
/** Limit of plain bytes: smaller records cost more per byte, larger ones need more memory without being faster. */
export const MAX_RECORD_BYTES = 32 * 1024;
/** Up to this size, one buffer for head and bytes is cheaper than two. */
const JOINED_BYTES = 4096;
/** The key of a direction is replaced after this many records: 512 GiB at most. */
const KEY_RECORDS = 2 ** 24;
/** Records of a direction before short ones are sealed without a cipher object each: a single one would not pay for it. */
const RECORDS_BEFORE_COUNTED = 2;
const NOTHING: Buffer = Buffer.alloc(0);

export interface ChannelKeys {
  /** For what the agent sends. */
  agent: Buffer;
  server: Buffer;
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
  private readonly keyRecords: number;
  private counted: CountedGcm | null = null;

  constructor(key: Buffer, keyRecords: number) {
    this.key = key;
    this.keyRecords = keyRecords;
  }

  /** Goes on to the next record, of this many bytes. Returns its cipher, or null: then it is Node's with `key` and `nonce`. */
  next(bytes: number): CountedGcm | null {
    this.number += 1;
    if (this.number > 0 && this.number % this.keyRecords === 0) this.replace();
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

  constructor(key: Buffer, keyRecords = KEY_RECORDS) {
    this.key = new RecordKey(key, keyRecords);
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

/** Buffers for split records, kept for the next one. */
const spare: Buffer[] = [];
const MAX_SPARE = 32;
const SPARE_BYTES = RECORD_HEAD_BYTES + MAX_RECORD_BYTES;

/** Opens the records of the other direction, split in any way. */
export class RecordOpener {
  private readonly key: RecordKey;
  private open: (plain: Buffer) => void;
  /** An incomplete record; at first only its head. */
  private partial = NOTHING;
  private filled = 0;
  private total = 0;

  /** `open`: called with the bytes of each record; an empty one is the end. */
  constructor(key: Buffer, open: (plain: Buffer) => void, keyRecords = KEY_RECORDS) {
    this.key = new RecordKey(key, keyRecords);
    this.open = open;
  }

  /**
   * Keeps no reference to `chunk`. @throws TunnelError `protocol` for anything that was not sealed with the key in this
   * order.
   */
  read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.filled === 0 && chunk.length - at >= RECORD_HEAD_BYTES) {
        const end = at + recordBytes(chunk, at);
        if (end <= chunk.length) {
          this.openRecord(chunk.subarray(at, end));
          at = end;
          continue;
        }
      }
      at += this.collect(chunk, at);
    }
  }

  /** Delivers the following records to another stream. */
  openTo(open: (plain: Buffer) => void): void {
    this.open = open;
  }

  /** Whether a part of a record is missing. */
  get isWithin(): boolean {
    return this.filled > 0;
  }

  /** Releases its memory: no more bytes will come. */
  close(): void {
    this.giveBack();
    this.filled = 0;
    this.key.close();
  }

  private collect(chunk: Buffer, at: number): number {
    if (this.filled === 0) {
      this.partial = Buffer.allocUnsafe(RECORD_HEAD_BYTES);
      this.total = RECORD_HEAD_BYTES;
    }
    const taken = chunk.copy(this.partial, this.filled, at, at + this.total - this.filled);
    this.filled += taken;
    if (this.filled < this.total) return taken;
    const total = recordBytes(this.partial, 0);
    if (this.total < total) this.grow(total);
    else this.openCollected();
    return taken;
  }

  private grow(total: number): void {
    const head = this.partial;
    this.partial =
      total > JOINED_BYTES ? (spare.pop() ?? Buffer.allocUnsafeSlow(SPARE_BYTES)) : Buffer.allocUnsafe(total);
    head.copy(this.partial);
    this.total = total;
  }

  private openCollected(): void {
    const record = this.partial.subarray(0, this.total);
    this.filled = 0;
    this.openRecord(record);
    // The opened bytes have memory of their own.
    this.giveBack();
  }

  private giveBack(): void {
    if (this.partial.length === SPARE_BYTES && spare.length < MAX_SPARE) spare.push(this.partial);
    this.partial = NOTHING;
  }

  private openRecord(record: Buffer): void {
    const sealed = record.subarray(RECORD_HEAD_BYTES);
    const tag = record.subarray(LENGTH_BYTES, RECORD_HEAD_BYTES);
    const length = record.subarray(0, LENGTH_BYTES);
    const counted = this.key.next(sealed.length);
    const plain = counted
      ? counted.open(this.key.number, sealed, tag, length)
      : openWithNode(this.key, sealed, tag, length);
    if (plain === null) throw protocolError('a record that was not sealed for this place');
    this.open(plain);
  }
}

/** Null if it was not sealed with this key, nonce and length. */
function openWithNode({ key, nonce }: RecordKey, sealed: Buffer, tag: Buffer, length: Buffer): Buffer | null {
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(length);
  decipher.setAuthTag(tag);
  const plain = decipher.update(sealed);
  try {
    decipher.final();
    return plain;
  } catch {
    return null;
  }
}

/** The size of a whole record, from its head. @throws TunnelError `protocol`. */
function recordBytes(head: Buffer, at: number): number {
  const length = head.readUIntBE(at, LENGTH_BYTES);
  if (length > MAX_RECORD_BYTES) throw protocolError('a record that is too long');
  return RECORD_HEAD_BYTES + length;
}
