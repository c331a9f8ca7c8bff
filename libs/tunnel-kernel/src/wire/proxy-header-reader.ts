import { ByteReader, formatIp, parseIp, type ByteStream } from '@gatehouse/net';
import { protocolError } from '../errors.js';
import { crc32c } from './crc32c.js';
import type { Endpoint } from '../base/endpoint.js';

/** The two ends of a connection according to a proxy. */
export interface ProxiedEnds {
  visitor: Endpoint;
  entrance: Endpoint;
}

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const LINE_END = Buffer.from('\r\n');
/** Including the line end. */
const MAX_LINE = 107;
/** The limit that every sender of version 2 respects, so that a header fits into a packet of any network. */
const MAX_BINARY = 536;
const BINARY_HEAD = 16;
const LOCAL = 0x20;
const PROXY = 0x21;
const TCP_OVER_4 = 0x11;
const TCP_OVER_6 = 0x21;
const TLV_CRC32C = 0x03;

/**
 * Reads the PROXY protocol header at the start of a connection (HAProxy's proxy-protocol.txt, versions 1 and 2), and no
 * bytes after it. Null: the connection is the proxy's own (LOCAL), or is not described as TCP. @throws TunnelError
 * `protocol` for anything else, ByteReaderError when the stream ends first.
 */
export async function readProxyHeader(stream: ByteStream): Promise<ProxiedEnds | null> {
  const reader = new ByteReader(stream, MAX_BINARY);
  // The shortest header of either version is longer than the signature.
  const start = await reader.read(SIGNATURE.length);
  const ends = start.equals(SIGNATURE) ? await readBinary(reader) : await readLine(reader, start);
  reader.restore();
  return ends;
}

async function readLine(reader: ByteReader, start: Buffer): Promise<ProxiedEnds | null> {
  if (start.toString('latin1', 0, 6) !== 'PROXY ') throw protocolError('no PROXY protocol header');
  const rest = await reader.readThrough(LINE_END);
  if (start.length + rest.length > MAX_LINE) throw protocolError('the PROXY protocol line is too long');
  return parseLine(Buffer.concat([start, rest]).toString('latin1').slice(0, -LINE_END.length));
}

function parseLine(line: string): ProxiedEnds | null {
  if (/^PROXY UNKNOWN( |$)/.test(line)) return null;
  const [, family, from = '', to = '', fromPort = '', toPort = ''] =
    /^PROXY TCP([46]) ([^ ]+) ([^ ]+) (0|[1-9]\d{0,4}) (0|[1-9]\d{0,4})$/.exec(line) ?? [];
  if (!family) throw protocolError('the PROXY protocol line cannot be read');
  return { visitor: textEnd(family, from, fromPort), entrance: textEnd(family, to, toPort) };
}

function textEnd(family: string, text: string, port: string): Endpoint {
  const address = parseIp(text);
  const written = text.includes(':') ? '6' : '4';
  if (!address || text.includes('%') || written !== family || Number(port) > 65_535) {
    throw protocolError('the PROXY protocol line has no such addresses');
  }
  return { address: formatIp(address), port: Number(port) };
}

async function readBinary(reader: ByteReader): Promise<ProxiedEnds | null> {
  const head = Buffer.concat([SIGNATURE, await reader.read(BINARY_HEAD - SIGNATURE.length)]);
  const [command = 0, family = 0] = head.subarray(SIGNATURE.length);
  const length = head.readUInt16BE(BINARY_HEAD - 2);
  if (command !== LOCAL && command !== PROXY) throw protocolError('not a version or command of the PROXY protocol');
  if (length > MAX_BINARY - BINARY_HEAD) throw protocolError('the PROXY protocol header is too long');
  const body = length === 0 ? Buffer.alloc(0) : Buffer.from(await reader.read(length));
  // The rest of a LOCAL header must be ignored.
  if (command === LOCAL || (family !== TCP_OVER_4 && family !== TCP_OVER_6)) return null;
  return parseBinary(head, body, family === TCP_OVER_4 ? 4 : 16);
}

function parseBinary(head: Buffer, body: Buffer, addressBytes: 4 | 16): ProxiedEnds {
  const addresses = addressBytes * 2 + 4;
  if (body.length < addresses) throw protocolError('the PROXY protocol header is cut off');
  checkExtensions(head, body, addresses);
  const end = (index: 0 | 1): Endpoint => ({
    address: binaryAddress(body.subarray(index * addressBytes, (index + 1) * addressBytes)),
    port: body.readUInt16BE(addressBytes * 2 + index * 2),
  });
  return { visitor: end(0), entrance: end(1) };
}

function binaryAddress(bytes: Buffer): string {
  const words = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readUInt32BE(index * 4));
  if (words.length === 1) return formatIp({ family: 4, words });
  const text = formatIp({ family: 6, words });
  const address = parseIp(text);
  // A mapped address becomes the IPv4 address in it.
  return address ? formatIp(address) : text;
}

/** Checks that every extension is complete, and the checksum if there is one. */
function checkExtensions(head: Buffer, body: Buffer, from: number): void {
  let at = from;
  while (at < body.length) {
    if (at + 3 > body.length) throw protocolError('an extension of the PROXY protocol is cut off');
    const length = body.readUInt16BE(at + 1);
    const value = at + 3;
    if (value + length > body.length) throw protocolError('an extension of the PROXY protocol is cut off');
    if (body[at] === TLV_CRC32C) checkSum(head, body, value, length);
    at = value + length;
  }
}

function checkSum(head: Buffer, body: Buffer, at: number, length: number): void {
  if (length !== 4) throw protocolError('a checksum of the PROXY protocol has four bytes');
  const blank = Buffer.from(body);
  blank.fill(0, at, at + length);
  if (crc32c(Buffer.concat([head, blank])) !== body.readUInt32BE(at)) {
    throw protocolError('the checksum of the PROXY protocol header is wrong');
  }
}
