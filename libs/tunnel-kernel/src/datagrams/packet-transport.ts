import { NextTurn } from '@gatehouse/net';
import { TunnelError } from '../errors.js';
import { cutFrame, FragmentJoiner } from './fragments.js';
import {
  FRAME,
  FRAME_HEADER_BYTES,
  readFrames,
  SESSION_BYTES,
  sessionOf,
  writeHeader,
  type DatagramTransport,
  type FrameHandler,
} from './frames.js';
import { PACKET_OVERHEAD_BYTES, type PacketOpener, type PacketSealer } from './sealed-packets.js';

/** Payloads of UDP: what every IPv6 path carries, and what most paths carry (1500 bytes less the headers and PPPoE). */
export const BASE_PACKET_BYTES = 1200;
export const LARGE_PACKET_BYTES = 1452;
const FRAGMENT_OVERHEAD_BYTES = FRAME_HEADER_BYTES + SESSION_BYTES + 2;

export interface PacketTransportOptions {
  sealer: PacketSealer;
  opener: PacketOpener;
  now: () => number;
  transmit: (parts: Buffer[]) => void;
  frame: FrameHandler;
}

/** Frames over UDP, sealed. A packet carries several small frames, or a fragment of a large one. */
export class PacketTransport implements DatagramTransport {
  private readonly options: PacketTransportOptions;
  private readonly joiner: FragmentJoiner;
  /** Null before the first datagram: most agents never have one. */
  private batch: Buffer | null = null;
  private room = BASE_PACKET_BYTES - PACKET_OVERHEAD_BYTES;
  private used = 0;
  private readonly flushing = new NextTurn(null, () => this.flush());
  private fragmented = 0;

  constructor(options: PacketTransportOptions) {
    this.options = options;
    this.joiner = new FragmentJoiner(options.now);
  }

  /** The longest packet that gets through. */
  set packetBytes(bytes: number) {
    const room = bytes - PACKET_OVERHEAD_BYTES;
    if (this.used > room) this.flush();
    this.room = room;
  }

  put(type: number, session: number, head: Uint8Array, payload: Uint8Array): void {
    const content = head.length + payload.length;
    const bytes = FRAME_HEADER_BYTES + SESSION_BYTES + content;
    if (bytes > this.room) {
      const frame = Buffer.allocUnsafe(bytes);
      const at = writeHeader(frame, 0, type, session, content);
      frame.set(head, at);
      frame.set(payload, at + head.length);
      return this.putParts(frame);
    }
    if (this.used + bytes > this.room) this.flush();
    this.batch ??= Buffer.allocUnsafeSlow(LARGE_PACKET_BYTES - PACKET_OVERHEAD_BYTES);
    const at = writeHeader(this.batch, this.used, type, session, content);
    this.batch.set(head, at);
    this.batch.set(payload, at + head.length);
    this.used += bytes;
    this.flushSoon();
  }

  /** Sends a packet of its own, padded to `bytes`. */
  putAlone(type: number, token: number, head: Uint8Array, bytes = 0): void {
    this.flush();
    const parts = this.alone(type, token, head, bytes);
    if (parts) this.options.transmit(parts);
  }

  /** Whether the key may seal no more packets: streams have to be used. */
  get exhausted(): boolean {
    return this.options.sealer.exhausted;
  }

  /** As `putAlone`, for the caller to send. Null: the key is used up. */
  alone(type: number, token: number, head: Uint8Array, bytes = 0): Buffer[] | null {
    const least = FRAME_HEADER_BYTES + SESSION_BYTES + head.length;
    const plain = Buffer.alloc(Math.max(least, bytes - PACKET_OVERHEAD_BYTES));
    plain.set(head, writeHeader(plain, 0, type, token, head.length));
    return this.options.sealer.seal(plain);
  }

  flush(): void {
    if (!this.batch || this.used === 0) return;
    const { sealer, transmit } = this.options;
    const parts = sealer.seal(this.batch.subarray(0, this.used));
    this.used = 0;
    if (parts) transmit(parts);
  }

  /**
   * Null for a packet that is not from the other end; else whether it is the newest. Unreadable frames are dropped.
   * `newest` is called for the newest packet before its frames are read.
   */
  receive(packet: Buffer, newest?: () => void): { newest: boolean } | null {
    const opened = this.options.opener.open(packet);
    if (!opened) return null;
    if (opened.newest) newest?.();
    this.read(opened.plain);
    return opened;
  }

  private read(plain: Buffer): void {
    try {
      readFrames(plain, (type, body) => {
        if (type !== FRAME.fragment) return this.options.frame(type, body);
        const whole = this.joiner.take(sessionOf(body), body.subarray(SESSION_BYTES));
        if (whole) readFrames(whole, this.options.frame);
      });
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
    }
  }

  private putParts(frame: Buffer): void {
    this.fragmented = (this.fragmented + 1) >>> 0;
    const number = this.fragmented;
    for (const { head, part } of cutFrame(frame, this.room - FRAGMENT_OVERHEAD_BYTES)) {
      this.put(FRAME.fragment, number, head, part);
    }
  }

  private flushSoon(): void {
    this.flushing.schedule();
  }
}
