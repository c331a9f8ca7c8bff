import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ByteReaderError } from '@gatehouse/net';
import { TunnelError } from '../errors.js';
import { crc32c } from './crc32c.js';
import { proxyHeader } from './proxy-header.js';
import { readProxyHeader, type ProxiedEnds } from './proxy-header-reader.js';

let server: Server;
const sockets: Socket[] = [];
beforeAll(async () => {
  server = createServer({ pauseOnConnect: true, noDelay: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(() => void server.close());

/** What is read from a connection on which `parts` come one after the other, and what is left of them. */
async function read(...parts: (Buffer | string)[]): Promise<{ ends: ProxiedEnds | null; rest: string }> {
  const sender = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', noDelay: true });
  sockets.push(sender);
  const [socket] = (await once(server, 'connection')) as [Socket];
  sockets.push(socket);
  const reading = readProxyHeader(socket);
  reading.catch(() => undefined);
  for (const part of parts) {
    await new Promise((resolve) => sender.write(part, resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
  sender.end();
  const ends = await reading;
  let rest = '';
  socket.on('data', (part) => (rest += String(part)));
  socket.resume();
  await once(socket, 'end');
  return { ends, rest };
}

const visitor = { address: '192.0.2.7', port: 56_324 };
const entrance = { address: '198.51.100.1', port: 443 };
const six = { address: '2001:db8::7', port: 443 };

/** Version 2 of TCP over IPv4 with extensions. */
function binary(extensions: Buffer, { command = 0x21, family = 0x11, length }: Record<string, number> = {}): Buffer {
  const header = Buffer.concat([proxyHeader(2, visitor, entrance), extensions]);
  header[12] = command;
  header[13] = family;
  header.writeUInt16BE(length ?? header.length - 16, 14);
  return header;
}

function withChecksum(extensions: Buffer): Buffer {
  const header = binary(Buffer.concat([extensions, Buffer.from([3, 0, 4, 0, 0, 0, 0])]));
  header.writeUInt32BE(crc32c(header), header.length - 4);
  return header;
}

describe('a PROXY protocol header', () => {
  it.each([
    [1, visitor, entrance],
    [2, visitor, entrance],
    [1, six, six],
    [2, six, six],
  ] as const)('of version %d is read as it was written', async (version, from, to) => {
    const { ends, rest } = await read(Buffer.concat([proxyHeader(version, from, to), Buffer.from('the payload')]));
    expect(ends).toEqual({ visitor: from, entrance: to });
    expect(rest).toBe('the payload');
  });

  it('is read byte by byte, and no further', async () => {
    for (const version of [1, 2] as const) {
      const bytes = Buffer.concat([proxyHeader(version, visitor, entrance), Buffer.from('GET')]);
      const { ends, rest } = await read(...Array.from(bytes, (byte) => Buffer.from([byte])));
      expect(ends?.visitor).toEqual(visitor);
      expect(rest).toBe('GET');
    }
  });

  it('leaves a large payload after it untouched', async () => {
    const payload = 'x'.repeat(300_000);
    expect((await read(Buffer.concat([withChecksum(Buffer.alloc(0)), Buffer.from(payload)]))).rest).toBe(payload);
  });

  it('converts mapped addresses to IPv4', async () => {
    const mapped = await read('PROXY TCP6 ::ffff:192.0.2.7 2001:DB8::0:1 1 2\r\n');
    expect(mapped.ends).toEqual({
      visitor: { address: '192.0.2.7', port: 1 },
      entrance: { address: '2001:db8::1', port: 2 },
    });
    const { ends } = await read(proxyHeader(2, visitor, six));
    expect(ends?.visitor).toEqual(visitor);
  });

  it.each([
    ['UNKNOWN', Buffer.from('PROXY UNKNOWN\r\n')],
    ['UNKNOWN with anything', Buffer.from(`PROXY UNKNOWN ${'f'.repeat(90)}\r\n`)],
    ['LOCAL', binary(Buffer.alloc(0), { command: 0x20 })],
    ['LOCAL without addresses', Buffer.concat([proxyHeader(2, { address: '', port: 0 }, entrance)])],
    ['UNSPEC', binary(Buffer.alloc(0), { family: 0 })],
    ['UDP', binary(Buffer.alloc(0), { family: 0x12 })],
    ['UNIX', binary(Buffer.alloc(204), { family: 0x31 })],
  ])('%s carries no address', async (_, header) => {
    expect(await read(Buffer.concat([header, Buffer.from('rest')]))).toEqual({ ends: null, rest: 'rest' });
  });

  it('can have extensions and a correct checksum', async () => {
    const authority = Buffer.concat([Buffer.from([2, 0, 11]), Buffer.from('example.com')]);
    expect((await read(binary(authority))).ends?.visitor).toEqual(visitor);
    expect((await read(withChecksum(authority))).ends?.visitor).toEqual(visitor);
    expect((await read(binary(Buffer.concat([Buffer.from([4, 1, 245]), Buffer.alloc(501)])))).ends?.visitor).toEqual(
      visitor,
    );
  });

  const damaged = withChecksum(Buffer.alloc(0));
  damaged[17] = 99;
  it.each<[string, Buffer | string]>([
    ['another protocol', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a lower-case name', 'proxy TCP4 1.2.3.4 1.2.3.4 1 2\r\n'],
    ['two spaces', 'PROXY TCP4  1.2.3.4 1.2.3.4 1 2\r\n'],
    ['a missing port', 'PROXY TCP4 1.2.3.4 1.2.3.4 1\r\n'],
    ['a port out of range', 'PROXY TCP4 1.2.3.4 1.2.3.4 1 65536\r\n'],
    ['a port with a zero before it', 'PROXY TCP4 1.2.3.4 1.2.3.4 01 2\r\n'],
    ['an octal address', 'PROXY TCP4 1.2.3.04 1.2.3.4 1 2\r\n'],
    ['the other family', 'PROXY TCP4 2001:db8::1 2001:db8::1 1 2\r\n'],
    ['IPv4 as IPv6', 'PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n'],
    ['a zone', 'PROXY TCP6 fe80::1%eth0 fe80::1 1 2\r\n'],
    ['a line without a carriage return', `PROXY TCP4 1.2.3.4 1.2.3.4 1 2\n${'x'.repeat(600)}`],
    ['a line of 108 bytes', `PROXY UNKNOWN ${'f'.repeat(92)}\r\n`],
    ['version 1 in binary', binary(Buffer.alloc(0), { command: 0x11 })],
    ['another command', binary(Buffer.alloc(0), { command: 0x22 })],
    ['fewer bytes than addresses', binary(Buffer.alloc(0), { length: 11 })],
    ['IPv6 with the bytes of IPv4', binary(Buffer.alloc(0), { family: 0x21 })],
    ['537 bytes', binary(Buffer.concat([Buffer.from([4, 1, 246]), Buffer.alloc(502), Buffer.from([4, 0, 1, 0])]))],
    ['an extension that is cut off', binary(Buffer.from([2, 0, 11, 65]))],
    ['half an extension', binary(Buffer.from([2, 0]))],
    ['a checksum of three bytes', binary(Buffer.from([3, 0, 3, 1, 2, 3]))],
    ['a wrong checksum', damaged],
  ])('with %s is refused', async (_, header) => {
    await expect(read(header)).rejects.toThrow(/PROXY|more than 536/);
  });

  it('without an end is refused when the connection ends', async () => {
    await expect(read('PROXY TCP4 1.2.3')).rejects.toThrow(ByteReaderError);
    await expect(read(binary(Buffer.alloc(0)).subarray(0, 20))).rejects.toThrow(ByteReaderError);
    await expect(read('HELLO, WORLD')).rejects.toThrow(TunnelError);
  });
});

describe('CRC-32C', () => {
  it('has the values of RFC 3720 appendix B.4', () => {
    expect(crc32c(Buffer.alloc(32)).toString(16)).toBe('8a9136aa');
    expect(crc32c(Buffer.alloc(32, 255)).toString(16)).toBe('62a8ab43');
    expect(crc32c(Buffer.from(Array.from({ length: 32 }, (_, index) => index))).toString(16)).toBe('46dd794e');
    expect(crc32c(Buffer.from('123456789')).toString(16)).toBe('e3069283');
  });
});
