import { parseIp, type IpAddress } from '@gatehouse/net';
import type { Endpoint } from '../base/endpoint.js';

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const VERSION_2_PROXY = 0x21;
const FAMILY_AT = 13;
const TCP_OVER = { 4: 0x11, 6: 0x21 } as const;
const UDP_OVER = { 4: 0x12, 6: 0x22 } as const;

/**
 * A PROXY protocol header (HAProxy's proxy-protocol.txt, versions 1 and 2), which names the visitor to a target. If the
 * addresses are of two families, both are written as IPv6, IPv4 mapped.
 */
export function proxyHeader(version: 1 | 2, visitor: Endpoint, entrance: Endpoint): Buffer {
  const source = parseIp(visitor.address);
  const destination = parseIp(entrance.address);
  if (!source || !destination) return version === 1 ? Buffer.from('PROXY UNKNOWN\r\n') : localHeader();
  const family = source.family === 4 && destination.family === 4 ? 4 : 6;
  if (version === 1) {
    const [from, to] = [asText(source, family), asText(destination, family)];
    return Buffer.from(`PROXY TCP${family} ${from} ${to} ${visitor.port} ${entrance.port}\r\n`);
  }
  const ports = Buffer.allocUnsafe(4);
  ports.writeUInt16BE(visitor.port, 0);
  ports.writeUInt16BE(entrance.port, 2);
  const body = Buffer.concat([asBytes(source, family), asBytes(destination, family), ports]);
  return Buffer.concat([SIGNATURE, Buffer.from([VERSION_2_PROXY, TCP_OVER[family], 0, body.length]), body]);
}

/** The header of version 2 before a datagram. */
export function datagramProxyHeader(visitor: Endpoint, entrance: Endpoint): Buffer {
  const header = proxyHeader(2, visitor, entrance);
  const family = header[FAMILY_AT];
  if (family === TCP_OVER[4]) header[FAMILY_AT] = UDP_OVER[4];
  else if (family === TCP_OVER[6]) header[FAMILY_AT] = UDP_OVER[6];
  return header;
}

/** Version 2, command LOCAL: the receiver uses the addresses of the connection itself. */
function localHeader(): Buffer {
  return Buffer.concat([SIGNATURE, Buffer.from([0x20, 0, 0, 0])]);
}

function asBytes({ family, words }: IpAddress, wanted: 4 | 6): Buffer {
  const all = family === 4 && wanted === 6 ? [0, 0, 0xffff, ...words] : words;
  const bytes = Buffer.allocUnsafe(all.length * 4);
  for (const [index, word] of all.entries()) bytes.writeUInt32BE(word >>> 0, index * 4);
  return bytes;
}

function asText(address: IpAddress, wanted: 4 | 6): string {
  const bytes = asBytes(address, wanted);
  if (wanted === 4) return bytes.join('.');
  return Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(index * 2).toString(16)).join(':');
}
