/** SOCKS as this kernel reads it: every name in its normal form. */
import { decodeSocksAddress, decodeSocksDatagram, type SocksAddress, type SocksDatagram } from '@gatehouse/net';
import { normalHost } from '../../transport/normal-host.js';

export const SOCKS4_VERSION = 4;

/** Reads `type ‖ address ‖ port` at `offset`. Null: more bytes are needed. @throws SocksError. */
export function decodeAddress(bytes: Buffer, offset = 0): { target: SocksAddress; end: number } | null {
  return decodeSocksAddress(bytes, normalHost, offset);
}

/** A datagram of RFC 1928 section 7. Null for a fragment, and for what cannot be read. */
export function decodeDatagram(bytes: Buffer): SocksDatagram | null {
  return bytes[0] === 0 && bytes[1] === 0 ? decodeSocksDatagram(bytes, normalHost) : null;
}

/** SOCKS4's eight bytes: 90 granted, 91 refused. */
export function encodeReply4(granted: boolean): Buffer {
  return Buffer.from([0, granted ? 90 : 91, 0, 0, 0, 0, 0, 0]);
}
