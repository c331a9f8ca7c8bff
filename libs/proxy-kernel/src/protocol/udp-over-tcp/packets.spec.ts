import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UDP_OVER_TCP_FRAMING as framing, udpOverTcpRequest, udpOverTcpTarget } from './packets.js';

describe('UDP over TCP', () => {
  it('asks for the reserved name, without a target', () => {
    expect(udpOverTcpTarget(2)).toEqual({ host: 'sp.v2.udp-over-tcp.arpa', port: 0 });
    expect(udpOverTcpTarget(1)).toEqual({ host: 'sp.udp-over-tcp.arpa', port: 0 });
    expect(udpOverTcpRequest(2).toString('hex')).toBe('0001000000000000');
    expect(udpOverTcpRequest(1)).toHaveLength(0);
  });

  it('has its own address types', () => {
    const hex = (host: string): string =>
      framing.encode({ target: { host, port: 53 }, payload: Buffer.from('!') })?.toString('hex') ?? '';
    expect(hex('1.2.3.4')).toBe('00' + '01020304' + '0035' + '0001' + '21');
    expect(hex('::1')).toBe('01' + '00000000000000000000000000000001' + '0035' + '0001' + '21');
    expect(hex('a.b')).toBe('02' + '03612e62' + '0035' + '0001' + '21');
  });

  it('reads a frame once it is complete', () => {
    const hosts = fc.constantFrom('1.2.3.4', '2001:db8::1', 'example.com', 'x'.repeat(255));
    fc.assert(
      fc.property(
        hosts,
        fc.integer({ min: 0, max: 65535 }),
        fc.uint8Array({ maxLength: 2000 }),
        (host, port, bytes) => {
          const item = { target: { host, port }, payload: Buffer.from(bytes) };
          const frame = framing.encode(item)!;
          expect(framing.decode(Buffer.concat([frame, Buffer.from('next')]))).toEqual({ item, end: frame.length });
          for (const cut of [0, 1, 2, frame.length - 1]) expect(framing.decode(frame.subarray(0, cut))).toBeNull();
        },
      ),
    );
  });

  it('refuses unknown types of addresses, and drops datagrams that are too long', () => {
    expect(() => framing.decode(Buffer.from('09000000000000000000', 'hex'))).toThrow(/address type/);
    expect(framing.encode({ target: { host: 'a', port: 1 }, payload: Buffer.alloc(0x10000) })).toBeNull();
  });
});
