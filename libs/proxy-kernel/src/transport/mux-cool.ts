import { DialError } from '../interfaces/index.js';
import { EncodedStream } from './encoded-stream.js';

/** The longest header of a frame, without its two length bytes. */
const MAX_META_BYTES = 512;
const MAX_DATA_BYTES = 16_384;
const STATUS = { keep: 2, end: 3 } as const;
const HAS_DATA = 1;
/** Opens session 0 to TCP 127.0.0.1:0: the plugin's server has a fixed target. */
const NEW_SESSION = Buffer.from([0, 12, 0, 0, 1, 0, 1, 0, 0, 1, 127, 0, 0, 1]);

/** Mux.Cool with one session, as used by Clash's v2ray-plugin. The server requires it, although nothing is shared. */
export class MuxCoolStream extends EncodedStream {
  private begun = false;
  private readonly small = Buffer.alloc(2 + MAX_META_BYTES);
  private filled = 0;
  private wanted = 2;
  private part: 'meta length' | 'meta' | 'data length' | 'data' = 'meta length';
  private dataLeft = 0;
  private status = 0;
  private ours = true;

  protected override get halfCloses(): boolean {
    return false;
  }

  protected override encode(chunk: Uint8Array): void {
    const front = this.begun ? [] : [NEW_SESSION];
    this.begun = true;
    for (let at = 0; at < chunk.length; at += MAX_DATA_BYTES) {
      const data = chunk.subarray(at, at + MAX_DATA_BYTES);
      const head = Buffer.from([0, 4, 0, 0, STATUS.keep, HAS_DATA, data.length >> 8, data.length & 255]);
      this.put(Buffer.concat([...front.splice(0), head, data]));
    }
  }

  protected override decode(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;)
      at += this.part === 'data' ? this.takeData(bytes, at) : this.takeSmall(bytes, at);
  }

  protected override checkEnd(): Error | null {
    if (this.part === 'meta length' && this.filled === 0) return null;
    return new DialError('relay', 'protocol_error', 'the stream ended inside a frame');
  }

  /** A session ends as a whole: the server ignores anything we would still send. */
  protected override endReading(): void {
    super.endReading();
    if (this.writingIsEnded) this.inner.destroy();
  }

  protected override endWriting(): void {
    if (this.readingEnded) this.inner.destroy();
    else this.inner.end();
  }

  private takeData(bytes: Buffer, at: number): number {
    const size = Math.min(this.dataLeft, bytes.length - at);
    this.dataLeft -= size;
    if (this.ours) this.give(bytes.subarray(at, at + size));
    if (this.dataLeft === 0) this.frameEnds();
    return size;
  }

  private takeSmall(bytes: Buffer, at: number): number {
    const size = Math.min(this.wanted - this.filled, bytes.length - at);
    bytes.copy(this.small, this.filled, at, at + size);
    this.filled += size;
    if (this.filled === this.wanted) this.partEnds();
    return size;
  }

  private partEnds(): void {
    this.filled = 0;
    if (this.part === 'meta length') {
      const length = this.small.readUInt16BE();
      if (length < 4 || length > MAX_META_BYTES)
        throw new DialError('relay', 'protocol_error', 'a frame is not valid in Mux.Cool');
      this.expect('meta', length);
    } else if (this.part === 'meta') this.metaEnds();
    else {
      this.dataLeft = this.small.readUInt16BE();
      this.part = 'data';
      if (this.dataLeft === 0) this.frameEnds();
    }
  }

  private metaEnds(): void {
    this.ours = this.small.readUInt16BE() === 0;
    this.status = this.small[2] ?? 0;
    if (((this.small[3] ?? 0) & HAS_DATA) !== 0) this.expect('data length', 2);
    else this.frameEnds();
  }

  private frameEnds(): void {
    this.expect('meta length', 2);
    if (this.ours && this.status === STATUS.end) this.endReading();
  }

  private expect(part: 'meta length' | 'meta' | 'data length', bytes: number): void {
    this.part = part;
    this.wanted = bytes;
  }
}
