import { Socket } from 'node:net';
import { reuseMemory, type ByteStream } from '@gatehouse/net';
import { ReusableChannelStream } from './reusable-channel-stream.js';
import { READY } from './prelude.js';
import {
  COMMON_RECORD_BYTES,
  MAX_RECORD_BYTES,
  RecordOpener,
  RecordSealer,
  type ChannelKeys,
  type SealedRecord,
} from './sealed-records.js';

const NOTHING = Buffer.alloc(0);
/** Up to this size, one record for a lead and the first bytes is cheaper than two. */
const JOINED_BYTES = 4096;

/**
 * Bytes in sealed records over an untrusted transport. Anything that was changed or reordered ends the stream like an
 * abort.
 */
export class SealedStream extends ReusableChannelStream {
  private readonly sealer: RecordSealer;
  private readonly opener: RecordOpener;
  private readonly side: keyof ChannelKeys;
  private endOpened = false;
  /** Longest record that the other side takes. */
  private recordBytes = COMMON_RECORD_BYTES;
  /** Whether the transport did not take the last record at once. */
  private isSlow = false;

  /** A previous stream in place of keys: its records and their numbers continue. */
  constructor(inner: ByteStream, keys: ChannelKeys | SealedStream, side: keyof ChannelKeys) {
    super(inner);
    const open = (plain: Buffer): void => this.opened(plain);
    if (keys instanceof SealedStream) {
      this.sealer = keys.sealer;
      this.opener = keys.opener;
      this.opener.openTo(open);
      this.recordBytes = keys.recordBytes;
    } else {
      this.sealer = new RecordSealer(keys[side]);
      this.opener = new RecordOpener(keys[side === 'agent' ? 'server' : 'agent'], open);
    }
    this.side = side;
  }

  /** The stream of the next visitor, when the transport is free (`reuseWith`). */
  next(): SealedStream {
    return new SealedStream(this.inner, this, this.side);
  }

  get isOverTcp(): boolean {
    return this.inner instanceof Socket;
  }

  /** From now on the transport reads into reused memory. Not before it is in use, because that memory is allocated. */
  reuseMemory(): void {
    reuseMemory(this.inner);
  }

  /** The other side takes records of `MAX_RECORD_BYTES`. */
  useLongRecords(): void {
    this.recordBytes = MAX_RECORD_BYTES;
  }

  protected send(chunk: Uint8Array): boolean {
    let room = true;
    for (let at = 0, end = 0; at < chunk.length; at = end) {
      // What arrives of a record waits for the rest of it: on a slow line that should not be much.
      end = at + (this.isSlow ? COMMON_RECORD_BYTES : this.recordBytes);
      room = this.sendRecord(this.sealer.seal(chunk.subarray(at, end)));
    }
    return room;
  }

  /** For the other end the lead is part of the stream. */
  protected sendBehind(lead: Buffer, chunk: Uint8Array): boolean {
    if (chunk.length === 0) return this.send(lead);
    if (chunk.length <= JOINED_BYTES) return this.send(Buffer.concat([lead, chunk]));
    this.inner.cork();
    this.send(lead);
    const room = this.send(chunk);
    this.inner.uncork();
    return room;
  }

  protected sendEnd(): void {
    this.sendRecord(this.sealer.seal(NOTHING));
  }

  protected sendReady(): void {
    this.sendRecord(this.sealer.seal(READY));
  }

  protected read(chunk: Buffer): void {
    this.opener.read(chunk);
    this.inner.release?.();
  }

  protected override closed(): void {
    this.opener.close();
    this.sealer.close();
    super.closed();
  }

  private sendRecord([head, sealed]: SealedRecord): boolean {
    const { inner } = this;
    if (!sealed) return inner.write(head);
    inner.cork();
    inner.write(head);
    const room = inner.write(sealed);
    inner.uncork();
    this.isSlow = inner.writableLength > 0;
    if (!this.isSlow) freeMemory(sealed);
    return room;
  }

  private opened(plain: Buffer): void {
    if (this.endOpened) this.afterEnd(plain);
    else if (plain.length === 0) {
      this.endOpened = true;
      this.ended();
    } else if (this.received(plain)) freeMemory(plain);
  }
}

/** Smaller buffers are not worth it. */
const MIN_BYTES = 4096;
/** Agents may run on Node 20, which lacks this: there, garbage collection frees the memory. */
const CAN_TRANSFER = 'transfer' in ArrayBuffer.prototype;

/**
 * Frees memory immediately and not with the next garbage collection: the next buffer of that size gets the same memory,
 * which is still in the processor's cache (0.12 s of CPU to seal a GB, not 0.3). `bytes` is empty afterwards. Parts of
 * larger buffers are left alone.
 */
function freeMemory(bytes: Buffer): void {
  const { buffer } = bytes;
  if (!CAN_TRANSFER || bytes.length < MIN_BYTES) return;
  if (bytes.length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
