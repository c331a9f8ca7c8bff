/** UDP over TCP as in sing-box and Clash: a stream to a reserved name, then datagrams with their addresses. */
import { encodeSocksAddress, type ByteStream } from '@gatehouse/net';
import type { PacketConnection, Target } from '../../interfaces/index.js';
import { decodeAddress } from '../socks/codec.js';
import { StreamDatagrams, type DatagramFraming } from '../stream-datagrams.js';

export type UdpOverTcpVersion = 1 | 2;

const NAMES: Record<UdpOverTcpVersion, string> = { 1: 'sp.udp-over-tcp.arpa', 2: 'sp.v2.udp-over-tcp.arpa' };
/** SOCKS's types of addresses by those of this protocol: IPv4, IPv6, name. */
const SOCKS_TYPES = [1, 4, 3];
const MAX_PAYLOAD = 0xffff;
const MAX_ADDRESS = 4 + 255;
const ANY: Target = { host: '0.0.0.0', port: 0 };

/** The target that the server is asked to connect to. */
export function udpOverTcpTarget(version: UdpOverTcpVersion): Target {
  return { host: NAMES[version], port: 0 };
}

/** The request before the datagrams, each of which has its own target. */
export function udpOverTcpRequest(version: UdpOverTcpVersion): Buffer {
  return version === 1 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([0]), encodeSocksAddress(ANY)]);
}

interface Datagram {
  target: Target;
  payload: Buffer;
}

/** `address ‖ length(2) ‖ payload`. */
export const UDP_OVER_TCP_FRAMING: DatagramFraming<Datagram> = {
  maxBytes: MAX_ADDRESS + 2 + MAX_PAYLOAD,
  encode({ target, payload }) {
    if (payload.length > MAX_PAYLOAD) return null;
    const address = encodeSocksAddress(target);
    address[0] = SOCKS_TYPES.indexOf(address[0] ?? 0);
    return Buffer.concat([address, Buffer.from([payload.length >> 8, payload.length & 255]), payload]);
  },
  decode(bytes) {
    if (bytes.length < 2) return null;
    const start = Buffer.from(bytes.subarray(0, MAX_ADDRESS));
    start[0] = SOCKS_TYPES[start[0] ?? 0] ?? 0;
    const address = decodeAddress(start);
    if (!address || bytes.length < address.end + 2) return null;
    const end = address.end + 2 + bytes.readUInt16BE(address.end);
    if (bytes.length < end) return null;
    return { item: { target: address.target, payload: bytes.subarray(address.end + 2, end) }, end };
  },
};

/** Datagrams of all targets in one stream. */
export class UdpOverTcpPackets implements PacketConnection {
  private readonly datagrams: StreamDatagrams<Datagram>;

  /** @param stream a stream to `udpOverTcpTarget`, which has sent the request or will. */
  constructor(stream: ByteStream) {
    this.datagrams = new StreamDatagrams(stream, UDP_OVER_TCP_FRAMING);
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
