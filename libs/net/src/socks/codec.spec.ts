import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ByteReader } from '../byte-reader.js';
import type { ByteStream } from '../byte-stream.js';
import {
  decodeSocksAddress,
  decodeSocksDatagram,
  encodeSocksAddress,
  encodeSocksDatagram,
  encodeSocksPassword,
  encodeSocksReply,
  encodeSocksRequest,
  readSocksAddress,
  SocksError,
} from './codec.js';

const asWritten = (name: string): string => name;
const noName = (): null => null;

describe('addresses', () => {
  it.each([
    [{ host: '1.2.3.4', port: 80 }, '01010203040050'],
    [{ host: 'a.b', port: 443 }, '0303612e6201bb'],
    [{ host: '2001:db8::1', port: 1 }, '0420010db80000000000000000000000010001'],
    [{ host: '::ffff:1.2.3.4', port: 80 }, '01010203040050'],
    [{ host: 'ü.de', port: 80 }, '0305c3bc2e64650050'],
  ])('%o is %s', (target, hex) => {
    expect(encodeSocksAddress(target).toString('hex')).toBe(hex);
  });

  it('are decoded as they were encoded, at any offset, and every cut is incomplete', () => {
    const host = fc.oneof(fc.ipV4(), fc.domain(), fc.constant('2001:db8::1'), fc.constant('例え.テスト'));
    fc.assert(
      fc.property(host, fc.integer({ min: 0, max: 65_535 }), fc.nat(20), (name, port, offset) => {
        const bytes = encodeSocksAddress({ host: name, port });
        const shifted = Buffer.concat([Buffer.alloc(offset, 9), bytes]);
        const end = offset + bytes.length;
        expect(decodeSocksAddress(shifted, asWritten, offset)).toEqual({ target: { host: name, port }, end });
        for (let cut = 0; cut < bytes.length; cut += 1) {
          expect(decodeSocksAddress(bytes.subarray(0, cut), asWritten)).toBeNull();
        }
      }),
    );
  });

  it.each([
    ['an unknown type', Buffer.from([2, 1, 1, 1, 1, 1, 1])],
    ['an empty name', Buffer.from([3, 0, 0, 80])],
    ['a name that is not UTF-8', Buffer.from([3, 1, 0xff, 0, 80])],
  ])('%s is refused', (_name, bytes) => {
    expect(() => decodeSocksAddress(bytes, asWritten)).toThrow(SocksError);
  });

  it('with a name that the caller does not accept are refused', () => {
    expect(() => decodeSocksAddress(encodeSocksAddress({ host: 'a.test', port: 80 }), noName)).toThrow(SocksError);
    expect(decodeSocksAddress(encodeSocksAddress({ host: '::1', port: 80 }), noName)?.target.host).toBe('::1');
  });

  it.each(['', 'a'.repeat(256), 'ü'.repeat(128)])('are not encoded for the name "%s"', (host) => {
    expect(() => encodeSocksAddress({ host, port: 1 })).toThrow(/255/);
    expect(encodeSocksDatagram({ host, port: 1 }, Buffer.from('x'))).toBeNull();
  });
});

describe('an address in a stream', () => {
  const streamOf = (): PassThrough & ByteStream => new PassThrough() as unknown as PassThrough & ByteStream;

  it.each(['192.0.2.1', '2001:db8::1', 'a.test'])('is read to its end: %s', async (host) => {
    const stream = streamOf();
    const reader = new ByteReader(stream);
    const address = { host, port: 443 };
    const read = readSocksAddress(reader, asWritten);
    for (const byte of encodeSocksAddress(address)) stream.write(Buffer.of(byte));
    stream.write('after');
    expect(await read).toEqual(address);
    expect(String(await reader.read(5))).toBe('after');
  });

  it('is refused at an unknown type', async () => {
    const stream = streamOf();
    const read = readSocksAddress(new ByteReader(stream), asWritten);
    stream.write(Buffer.of(9));
    await expect(read).rejects.toThrow(SocksError);
  });
});

describe('datagrams', () => {
  it('are decoded as they were encoded', () => {
    const target = { host: 'example.com', port: 53 };
    const payload = Buffer.from('query');
    const bytes = encodeSocksDatagram(target, payload);
    expect(bytes?.toString('hex', 0, 3)).toBe('000000');
    expect(bytes && decodeSocksDatagram(bytes, asWritten)).toEqual({ target, payload });
  });

  it.each([
    ['a fragment', '00000101010101010050'],
    ['a cut address', '0000000101010101'],
    ['an unknown type', '000000090101010100'],
    ['nothing', ''],
  ])('%s is dropped', (_name, hex) => {
    expect(decodeSocksDatagram(Buffer.from(hex, 'hex'), asWritten)).toBeNull();
  });
});

it('requests and replies carry an address', () => {
  expect(encodeSocksReply(0, { host: '127.0.0.1', port: 1080 }).toString('hex')).toBe('050000017f0000010438');
  expect(encodeSocksReply(5).toString('hex')).toBe('05050001000000000000');
  expect(encodeSocksRequest(1, { host: 'a.b', port: 80 }).toString('hex')).toBe('0501000303612e620050');
});

it('a user and a password have at most 255 bytes', () => {
  expect(encodeSocksPassword('ann', 'pw').toString('hex')).toBe('0103616e6e027077');
  expect(() => encodeSocksPassword('ann', 'ü'.repeat(128))).toThrow(SocksError);
});
