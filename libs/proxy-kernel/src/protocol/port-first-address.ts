/** Addresses in the form of VMess and VLESS: the port comes first, and the types have their own numbers. */
import { parseIp } from '@gatehouse/net';
import { DialError, type Target } from '../interfaces/index.js';

const TYPE_IPV4 = 1;
const TYPE_DOMAIN = 2;
const TYPE_IPV6 = 3;

/** `port ‖ type ‖ address`. @throws DialError for a name over 255 bytes. */
export function encodePortFirst({ host, port }: Target): Buffer {
  const ip = parseIp(host);
  if (ip) {
    const bytes = Buffer.allocUnsafe(3 + (ip.family === 4 ? 4 : 16));
    bytes.writeUInt16BE(port);
    bytes[2] = ip.family === 4 ? TYPE_IPV4 : TYPE_IPV6;
    for (const [index, word] of ip.words.entries()) bytes.writeUInt32BE(word >>> 0, 3 + index * 4);
    return bytes;
  }
  const name = Buffer.from(host);
  if (name.length === 0 || name.length > 255) {
    throw new DialError('handshake', 'other', 'a host name has 1 to 255 bytes');
  }
  return Buffer.concat([Buffer.from([port >> 8, port & 255, TYPE_DOMAIN, name.length]), name]);
}
