import { encodeSocksAddress, type ByteStream } from '@gatehouse/net';
import type { PacketConnection, Target } from '../../interfaces/index.js';
import { decodeAddress } from '../socks/codec.js';
import { StreamDatagrams, type DatagramFraming } from '../stream-datagrams.js';

/** Servers refuse longer ones and end the stream. */
const MAX_PAYLOAD = 8192;
const MAX_ADDRESS = 4 + 255;

export interface TrojanDatagram {
  target: Target;
  payload: Buffer;
}

/** `address ‖ length(2) ‖ CRLF ‖ payload`. */
export const TROJAN_FRAMING: DatagramFraming<TrojanDatagram> = {
  maxBytes: MAX_ADDRESS + 4 + 0xffff,
  encode({ target, payload }) {
    if (payload.length > MAX_PAYLOAD) return null;
    const { length } = payload;
    return Buffer.concat([encodeSocksAddress(target), Buffer.from([length >> 8, length & 255, 13, 10]), payload]);
  },
  decode(bytes) {
    const address = decodeAddress(bytes);
    if (!address || bytes.length < address.end + 4) return null;
    const start = address.end + 4;
    if (bytes.readUInt16BE(start - 2) !== 0x0d0a) throw new Error('a datagram has no line end after its length');
    const end = start + bytes.readUInt16BE(address.end);
    if (bytes.length < end) return null;
    return { item: { target: address.target, payload: bytes.subarray(start, end) }, end };
  },
};

/** UDP through a Trojan server: one stream for all targets. */
export class TrojanPackets implements PacketConnection {
  private readonly datagrams: StreamDatagrams<TrojanDatagram>;

  /**
   * @param headFor the request before the first datagram. It names that datagram's target: a mihomo server sends all
   * datagrams of the stream there, while others go by the address of each.
   */
  constructor(stream: ByteStream, headFor: (first: Target) => Buffer) {
    let begun = false;
    const encode = (datagram: TrojanDatagram): Buffer | null => {
      const frame = TROJAN_FRAMING.encode(datagram);
      if (frame === null || begun) return frame;
      begun = true;
      return Buffer.concat([headFor(datagram.target), frame]);
    };
    this.datagrams = new StreamDatagrams(stream, { ...TROJAN_FRAMING, encode });
  }

  send(payload: Buffer, target: Target): void {
    this.datagrams.send({ target, payload });
  }

  onMessage(listener: (payload: Buffer, from: Target) => void): void {
    this.datagrams.onMessage(({ target, payload }) => listener(payload, target));
  }

  onClose(listener: (error?: Error) => void): void {
    this.datagrams.onClose(listener);
  }

  close(): void {
    this.datagrams.close();
  }
}
