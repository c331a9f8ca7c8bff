import { randomBytes } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { ByteStream } from '@gatehouse/net';
import { answerLength, encodeRequest, LENGTH_FRAMING } from './vless/outbound.js';
import { StreamDatagrams } from './stream-datagrams.js';
import { TargetPackets, type TargetChannel } from './target-packets.js';
import { TROJAN_FRAMING, type TrojanDatagram } from './trojan/packets.js';

/** A byte stream that drops writes and gives the bytes set by the test. */
function feed(): { stream: ByteStream; say: (bytes: Buffer) => void } {
  const through = new PassThrough();
  return { stream: through as unknown as ByteStream, say: (bytes) => void through.write(bytes) };
}

describe('datagrams in a stream', () => {
  const items: TrojanDatagram[] = [
    { target: { host: '127.0.0.1', port: 53 }, payload: randomBytes(1) },
    { target: { host: '2001:db8::1', port: 53 }, payload: randomBytes(8192) },
    { target: { host: 'example.com', port: 443 }, payload: randomBytes(300) },
  ];

  it.each([1, 2, 50, 10_000])('of trojan are read in pieces of %i bytes', async (cut) => {
    const bytes = Buffer.concat(items.map((item) => TROJAN_FRAMING.encode(item) ?? Buffer.alloc(0)));
    const { stream, say } = feed();
    const seen: TrojanDatagram[] = [];
    new StreamDatagrams(stream, TROJAN_FRAMING).onMessage((item) => seen.push(item));
    for (let at = 0; at < bytes.length; at += cut) say(bytes.subarray(at, at + cut));
    await expect.poll(() => seen.length).toBe(3);
    expect(seen).toEqual(items);
  });

  it('of trojan are dropped when they are longer than servers accept', () => {
    expect(TROJAN_FRAMING.encode({ ...items[0]!, payload: Buffer.alloc(8193) })).toBeNull();
  });

  it('that are invalid end only their own stream', async () => {
    const good = feed();
    const bad = feed();
    const seen: string[] = [];
    new StreamDatagrams(good.stream, TROJAN_FRAMING).onMessage(({ payload }) => seen.push(payload.toString()));
    const broken = new StreamDatagrams(bad.stream, TROJAN_FRAMING);
    const closed = new Promise<Error | undefined>((resolve) => broken.onClose(resolve));
    bad.say(Buffer.from([9, 9, 9, 9, 9, 9]));
    expect((await closed)?.message).toContain('address type 9');
    expect(bad.stream.destroyed).toBe(true);
    good.say(TROJAN_FRAMING.encode({ ...items[0]!, payload: Buffer.from('still here') }) ?? Buffer.alloc(0));
    await expect.poll(() => seen).toEqual(['still here']);
  });

  it('survive garbage', () => {
    for (let round = 0; round < 2000; round += 1) {
      const bytes = randomBytes(1 + (round % 600));
      for (const framing of [TROJAN_FRAMING, LENGTH_FRAMING]) {
        try {
          framing.decode(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(Error);
        }
      }
    }
  });

  it('of VLESS have a length, and its answer one of addons', () => {
    expect(LENGTH_FRAMING.encode(Buffer.from('abc'))?.toString('hex')).toBe('0003616263');
    expect(LENGTH_FRAMING.encode(Buffer.alloc(65_536))).toBeNull();
    expect(LENGTH_FRAMING.decode(Buffer.from('00036162', 'hex'))).toBeNull();
    expect([
      answerLength(Buffer.from([0])),
      answerLength(Buffer.from([0, 0])),
      answerLength(Buffer.from([0, 2, 1])),
    ]).toEqual([0, 2, 0]);
    expect(() => answerLength(Buffer.from('HTTP'))).toThrow('does not speak VLESS');
    const head = encodeRequest(Buffer.alloc(16, 1), 1, { host: '::1', port: 80 });
    expect(head.toString('hex')).toBe(`00${'01'.repeat(16)}000100500300000000000000000000000000000001`);
  });
});

describe('a stream for each target', () => {
  function fake(): TargetChannel & { sent: string[]; closed: boolean; drop: () => void } {
    const listeners: (() => void)[] = [];
    return {
      sent: [],
      closed: false,
      send(payload) {
        this.sent.push(payload.toString());
      },
      onMessage: () => undefined,
      onClose: (listener) => void listeners.push(listener),
      close() {
        this.closed = true;
      },
      drop: () => listeners.forEach((listener) => listener()),
    };
  }

  it('is opened by its first datagram, kept, and opened again after it broke', async () => {
    const opened: ReturnType<typeof fake>[] = [];
    const packets = new TargetPackets(async () => {
      await Promise.resolve();
      return (opened[opened.length] = fake());
    });
    packets.send(Buffer.from('1'), { host: 'a', port: 1 });
    packets.send(Buffer.from('2'), { host: 'a', port: 1 });
    await expect.poll(() => opened[0]?.sent).toEqual(['1', '2']);
    opened[0]?.drop();
    packets.send(Buffer.from('3'), { host: 'a', port: 1 });
    await expect.poll(() => opened[1]?.sent).toEqual(['3']);
    packets.close();
    expect(opened[1]?.closed).toBe(true);
  });

  it('is one of a bounded number', async () => {
    const opened: ReturnType<typeof fake>[] = [];
    const packets = new TargetPackets(() => Promise.resolve((opened[opened.length] = fake())));
    for (let port = 1; port <= 300; port += 1) {
      packets.send(Buffer.from('x'), { host: 'a', port });
      await Promise.resolve();
    }
    await expect.poll(() => opened.length).toBe(300);
    expect(opened.filter(({ closed }) => !closed)).toHaveLength(256);
    packets.close();
  });

  it('that cannot be opened ends the association with the reason', async () => {
    const packets = new TargetPackets(() => Promise.reject(new Error('no way')));
    const closed = new Promise<Error | undefined>((resolve) => packets.onClose(resolve));
    packets.send(Buffer.from('x'), { host: 'a', port: 1 });
    expect((await closed)?.message).toBe('no way');
  });
});
