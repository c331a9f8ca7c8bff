import { reuseMemory, type ByteStream } from '@gatehouse/net';
import { freeMemory } from './free-memory.js';
import { LayeredStream } from './layered-stream.js';
import { MAX_RECORD_BYTES, RecordOpener, RecordSealer, type ChannelKeys, type SealedRecord } from './sealed-records.js';

const NOTHING = Buffer.alloc(0);

/**
 * Bytes in sealed records over a transport that everybody may read and change. What does not come as it was sent, in its
 * order, ends the stream like an abort.
 */
export class SealedStream extends LayeredStream {
  private readonly sealer: RecordSealer;
  private readonly opener: RecordOpener;

  constructor(inner: ByteStream, keys: ChannelKeys, side: keyof ChannelKeys) {
    super(inner);
    this.sealer = new RecordSealer(keys[side]);
    this.opener = new RecordOpener(keys[side === 'agent' ? 'server' : 'agent'], (plain) => this.opened(plain));
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
    if (plain.length === 0) this.ended();
    else if (this.received(plain)) freeMemory(plain);
  }
}
