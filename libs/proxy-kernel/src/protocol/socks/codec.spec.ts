import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeAddress, decodeUdp, encodeAddress, encodeReply, encodeUdp } from './codec.js';

describe('addresses', () => {
  it.each([
    [{ host: '1.2.3.4', port: 80 }, '01010203040050'],
    [{ host: 'a.b', port: 443 }, '0303612e6201bb'],
    [{ host: '2001:db8::1', port: 1 }, '0420010db80000000000000000000000010001'],
    [{ host: '::ffff:1.2.3.4', port: 80 }, '01010203040050'],
  ])('%o is %s', (target, hex) => {
    expect(encodeAddress(target).toString('hex')).toBe(hex);
  });

  it('come back as they went, at any offset, and every cut is incomplete', () => {
    const host = fc.oneof(fc.ipV4(), fc.domain(), fc.constant('2001:db8::1'));
    fc.assert(
      fc.property(host, fc.integer({ min: 0, max: 65_535 }), fc.nat(20), (name, port, offset) => {
        const bytes = encodeAddress({ host: name, port });
        const shifted = Buffer.concat([Buffer.alloc(offset, 9), bytes]);
        expect(decodeAddress(shifted, offset)).toEqual({ target: { host: name, port }, end: offset + bytes.length });
        for (let cut = 0; cut < bytes.length; cut += 1) expect(decodeAddress(bytes.subarray(0, cut))).toBeNull();
      }),
    );
  });

  it.each([
    ['an unknown type', Buffer.from([2, 1, 1, 1, 1, 1, 1])],
    ['an empty name', Buffer.from([3, 0, 0, 80])],
    ['a name with a line break', Buffer.from([3, 3, 97, 10, 97, 0, 80])],
  ])('%s is refused', (_name, bytes) => {
    expect(() => decodeAddress(bytes)).toThrow();
  });

  it('refuse a name over 255 bytes', () => {
    expect(() => encodeAddress({ host: 'a'.repeat(256), port: 1 })).toThrow(/255/);
    expect(() => encodeAddress({ host: '', port: 1 })).toThrow(/255/);
  });
});

describe('datagrams', () => {
  it('come back as they went', () => {
    const sent = { target: { host: 'example.com', port: 53 }, payload: Buffer.from('query') };
    expect(decodeUdp(encodeUdp(sent.target, sent.payload))).toEqual(sent);
  });

  it.each([
    ['a fragment', '00000101010101010050'],
    ['reserved bytes that are not zero', '01000001010101010050'],
    ['a cut address', '0000000101010101'],
    ['an unknown type', '000000090101010100'],
    ['nothing', ''],
  ])('%s is dropped', (_name, hex) => {
    expect(decodeUdp(Buffer.from(hex, 'hex'))).toBeNull();
  });
});

it('replies carry the bound address', () => {
  expect(encodeReply(0, { host: '127.0.0.1', port: 1080 }).toString('hex')).toBe('050000017f0000010438');
  expect(encodeReply(5).toString('hex')).toBe('05050001000000000000');
});
