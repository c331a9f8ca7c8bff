import { Socket } from 'node:net';
import { reuseMemory, type ByteStream } from '@gatehouse/net';
import { ReusableChannelStream } from './reusable-channel-stream.js';
import { READY } from './prelude.js';
import { MAX_RECORD_BYTES, RecordOpener, RecordSealer, type ChannelKeys, type SealedRecord } from './sealed-records.js';

const NOTHING = Buffer.alloc(0);

/**
 * Bytes in sealed records over a transport that everybody may read and change. What does not come as it was sent, in its
 * order, ends the stream like an abort.
 */
export class SealedStream extends ReusableChannelStream {
  private readonly sealer: RecordSealer;
  private readonly opener: RecordOpener;
  private readonly side: keyof ChannelKeys;
  private endOpened = false;

  /** With the records of a stream before this one in place of keys: their numbers go on. */
  constructor(inner: ByteStream, keys: ChannelKeys | SealedStream, side: keyof ChannelKeys) {
    super(inner);
    const open = (plain: Buffer): void => this.opened(plain);
    if (keys instanceof SealedStream) {
      this.sealer = keys.sealer;
      this.opener = keys.opener;
      this.opener.openTo(open);
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

  /** From now on the transport reads into memory that is used again: not before it is in use, for it costs memory. */
  reuseMemory(): void {
    reuseMemory(this.inner);
  }

  protected send(chunk: Uint8Array): boolean {
    let room = true;
    for (let at = 0; at < chunk.length; at += MAX_RECORD_BYTES) {
      room = this.sendRecord(this.sealer.seal(chunk.subarray(at, at + MAX_RECORD_BYTES)));
    }
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
    super.closed();
  }

  private sendRecord([head, sealed]: SealedRecord): boolean {
    const { inner } = this;
    if (!sealed) return inner.write(head);
    inner.cork();
    inner.write(head);
    const room = inner.write(sealed);
    inner.uncork();
    if (inner.writableLength === 0) freeMemory(sealed);
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

/** Less is not worth it. */
const MIN_BYTES = 4096;
/** Agents run with Node 20, which cannot do this: there the garbage collection frees memory, as it does everywhere else. */
const CAN_TRANSFER = 'transfer' in ArrayBuffer.prototype;

/**
 * Gives memory that nobody needs any more back now and not with the next garbage collection: the next buffer of that size
 * gets the same memory, which the processor has at hand (0.12 s of CPU to seal a GB, not 0.3). Who looks at `bytes` after
 * this finds none. Parts of something larger stay as they are.
 */
function freeMemory(bytes: Buffer): void {
  const { buffer } = bytes;
  if (!CAN_TRANSFER || bytes.length < MIN_BYTES) return;
  if (bytes.length === buffer.byteLength && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
