/** The stream and datagram formats of Shadowsocks AEAD (SIP004). Pure: bytes in, bytes out. */
import { createCipheriv, createDecipheriv, type CipherGCMTypes, type DecipherGCM, type KeyObject } from 'node:crypto';
import { encodeSocksAddress } from '@gatehouse/net';
import type { Target } from '../../interfaces/index.js';
import { decodeAddress } from '../socks/codec.js';
import { ChunkKey, SHORT_PART, ShadowsocksError, checkTag } from './chunk-key.js';
import { NONCE_LENGTH, TAG_LENGTH, freshSalt, sessionKey, type AeadMethod } from './cipher.js';

export const MAX_CHUNK = 0x3fff;
/** A chunk up to this size is written in one piece: copying it costs less than four writes. */
const SHORT_CHUNK = 2048;
const LENGTH_BYTES = 2;
const AUTH_TAG = { authTagLength: TAG_LENGTH };
const NOTHING: Buffer = Buffer.alloc(0);

/** The differences between the streams of the protocol's editions. */
export interface StreamFormat {
  algorithm: CipherGCMTypes;
  saltLength: number;
  maxChunk: number;
  key: (salt: Uint8Array) => KeyObject;
  /** The header before the first payload, which contains its length; absent: the same as before the others. */
  firstHeader?: { bytes: number; payloadLength(header: Buffer): number };
}

/** SIP004. */
export function aeadFormat({ algorithm, saltLength }: AeadMethod, master: Buffer): StreamFormat {
  return { algorithm, saltLength, maxChunk: MAX_CHUNK, key: (salt) => sessionKey(master, salt) };
}

/** Seals one direction of a stream. */
export class StreamSealer {
  private readonly maxChunk: number;
  private readonly key: ChunkKey;
  private readonly length = Buffer.alloc(LENGTH_BYTES);

  constructor({ algorithm, maxChunk, key }: StreamFormat, salt: Uint8Array) {
    this.maxChunk = maxChunk;
    this.key = new ChunkKey(algorithm, key(salt));
  }

  /**
   * Passes the sealed pieces of `plain` to `write`, in order: full chunks, then at most one that is not full.
   * @param before sent in front of them, with the first piece
   */
  seal(plain: Uint8Array, write: (piece: Buffer) => void, before: Buffer = NOTHING): void {
    if (plain.length > 0 && plain.length <= SHORT_CHUNK) {
      return write(Buffer.concat([before, ...this.sealLength(plain.length), ...this.sealOne(plain)]));
    }
    let head = before;
    for (let at = 0; at < plain.length; at += this.maxChunk) {
      const chunk = plain.subarray(at, at + this.maxChunk);
      // The short pieces between two payloads (tag, next length and its tag) are written as one.
      write(Buffer.concat([head, ...this.sealLength(chunk.length)]));
      const [payload = NOTHING, tag = NOTHING] = this.sealOne(chunk);
      write(payload);
      head = tag;
    }
    if (head.length > 0) write(head);
  }

  /** Seals a part without a length before it. Returns it and its tag, in one or two pieces. */
  sealOne(plain: Uint8Array): Buffer[] {
    return this.key.seal(plain);
  }

  /** The stream has ended. */
  erase(): void {
    this.key.erase();
  }

  private sealLength(bytes: number): Buffer[] {
    this.length.writeUInt16BE(bytes);
    return this.sealOne(this.length);
  }
}

/** Opens one direction of a stream. Nothing is passed on before its tag has been checked. */
export class StreamOpener {
  private readonly format: StreamFormat;
  /** Collects what is opened in one piece: the salt, then headers and short payloads, each with its tag. */
  private readonly small: Buffer;
  private smallFilled = 0;
  private key: ChunkKey | null = null;
  /** The length of the header before the next payload, without its tag. */
  private headerBytes: number;
  private first = true;
  /** The length of a payload that is opened in one piece; null: a header comes, or a longer payload. */
  private shortPayload: number | null = null;
  /** Bytes of a longer payload that have not arrived yet. */
  private payloadLeft = 0;
  private decipher: DecipherGCM | null = null;
  private opened: Buffer[] = [];

  constructor(format: StreamFormat) {
    this.format = format;
    this.headerBytes = format.firstHeader?.bytes ?? LENGTH_BYTES;
    this.small = Buffer.allocUnsafe(SHORT_PART + TAG_LENGTH);
  }

  /** Whether the stream may end here, between two chunks. */
  get atBoundary(): boolean {
    return this.smallFilled === 0 && this.decipher === null && this.shortPayload === null;
  }

  /** The sender's salt, once it has arrived. */
  get salted(): boolean {
    return this.key !== null;
  }

  /**
   * Opens sealed bytes that may be cut anywhere, and passes on plain ones. `bytes` is not kept.
   * @throws ShadowsocksError for a wrong tag; the stream is unusable then.
   */
  push(bytes: Buffer, give: (plain: Buffer) => void): void {
    for (let at = 0; at < bytes.length;) {
      if (this.payloadLeft > 0) at += this.takePayload(bytes, at);
      else at += this.takeSmall(bytes, at, give);
    }
  }

  /** The stream has ended. */
  erase(): void {
    this.key?.erase();
  }

  /**
   * A long payload is decrypted in place, in the pieces in which it arrived, which are held until the tag has been checked.
   */
  private takePayload(bytes: Buffer, at: number): number {
    const size = Math.min(this.payloadLeft, bytes.length - at);
    if (this.decipher) this.opened.push(this.decipher.update(bytes.subarray(at, at + size)));
    this.payloadLeft -= size;
    return size;
  }

  private takeSmall(bytes: Buffer, at: number, give: (plain: Buffer) => void): number {
    const wanted = this.wantedSmall();
    const size = Math.min(wanted - this.smallFilled, bytes.length - at);
    bytes.copy(this.small, this.smallFilled, at, at + size);
    this.smallFilled += size;
    if (this.smallFilled < wanted) return size;
    this.smallFilled = 0;
    if (this.key === null)
      this.key = new ChunkKey(this.format.algorithm, this.format.key(this.small.subarray(0, wanted)));
    else if (this.decipher) this.finishChunk(this.decipher, give);
    else if (this.shortPayload !== null) this.openShort(this.key, this.shortPayload, give);
    else this.startChunk(this.key);
    return size;
  }

  private wantedSmall(): number {
    if (this.key === null) return this.format.saltLength;
    if (this.decipher) return TAG_LENGTH;
    return (this.shortPayload ?? this.headerBytes) + TAG_LENGTH;
  }

  private startChunk(key: ChunkKey): void {
    const header = this.openSmall(key, this.headerBytes);
    const { firstHeader, maxChunk } = this.format;
    const length = this.first && firstHeader ? firstHeader.payloadLength(header) : header.readUInt16BE();
    // SIP004 reserves the two high bits, which must be zero.
    if (length > maxChunk) throw new ShadowsocksError(`a chunk is longer than ${maxChunk}`);
    this.first = false;
    this.headerBytes = LENGTH_BYTES;
    if (length <= SHORT_PART) this.shortPayload = length;
    else {
      this.payloadLeft = length;
      this.decipher = key.decipher();
    }
  }

  private openShort(key: ChunkKey, bytes: number, give: (plain: Buffer) => void): void {
    const plain = this.openSmall(key, bytes);
    this.shortPayload = null;
    if (bytes > 0) give(plain);
  }

  private openSmall(key: ChunkKey, bytes: number): Buffer {
    return key.open(this.small.subarray(0, bytes), this.small.subarray(bytes, bytes + TAG_LENGTH));
  }

  private finishChunk(decipher: DecipherGCM, give: (plain: Buffer) => void): void {
    checkTag(decipher, this.small.subarray(0, TAG_LENGTH));
    this.decipher = null;
    const { opened } = this;
    this.opened = [];
    for (const plain of opened) give(plain);
  }
}

/** Datagrams of one association. */
export interface DatagramCodec {
  seal(payload: Buffer, target: Target): Buffer;
  /** Null for a truncated datagram. @throws ShadowsocksError, SocksError for an invalid one. */
  open(bytes: Buffer): { target: Target; payload: Buffer } | null;
}

/** SIP004: each datagram has its own salt. */
export function aeadDatagrams(method: AeadMethod, master: Buffer): DatagramCodec {
  return {
    seal: (payload, target) => sealDatagram(method, master, freshSalt(method), [encodeSocksAddress(target), payload]),
    open: (bytes) => {
      const plain = openDatagram(method, master, bytes);
      const address = decodeAddress(plain);
      return address && { target: address.target, payload: plain.subarray(address.end) };
    },
  };
}

const FIRST_NONCE = Buffer.alloc(NONCE_LENGTH);

/** One datagram: `salt ‖ sealed(address ‖ payload)`. */
export function sealDatagram(method: AeadMethod, master: Buffer, salt: Buffer, parts: readonly Uint8Array[]): Buffer {
  const cipher = createCipheriv(method.algorithm, sessionKey(master, salt), FIRST_NONCE, AUTH_TAG);
  const sealed = parts.map((part) => cipher.update(part));
  cipher.final();
  return Buffer.concat([salt, ...sealed, cipher.getAuthTag()]);
}

/** @throws ShadowsocksError for a datagram that is too short or was not sealed with this key. */
export function openDatagram(method: AeadMethod, master: Buffer, bytes: Buffer): Buffer {
  const { saltLength } = method;
  if (bytes.length < saltLength + TAG_LENGTH) throw new ShadowsocksError('a datagram is too short');
  const key = sessionKey(master, bytes.subarray(0, saltLength));
  const decipher = createDecipheriv(method.algorithm, key, FIRST_NONCE, AUTH_TAG);
  const plain = decipher.update(bytes.subarray(saltLength, -TAG_LENGTH));
  checkTag(decipher, bytes.subarray(-TAG_LENGTH));
  return plain;
}
