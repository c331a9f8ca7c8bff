import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { waitFor } from '@gatehouse/testing';
import type { TunnelError } from '../errors.js';
import { FRAME, NOTHING, sessionOf, SESSION_BYTES } from './frames.js';
import { PacketTransport } from './packet-transport.js';
import { PathWatch } from './path-watch.js';
import { PacketOpener, packetKeys, PacketSealer } from './sealed-packets.js';
import { StreamTransport } from './stream-transport.js';

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

/** Both ends of a connection, paused. */
async function pair(): Promise<[Socket, Socket]> {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  const [far] = (await once(server, 'connection')) as [Socket];
  near.pause();
  near.on('error', () => undefined);
  cleanups.push(() => {
    near.destroy();
    far.destroy();
    server.close();
  });
  return [near, far];
}

function transport() {
  const payloads: string[] = [];
  const ends: (TunnelError | null)[] = [];
  const opened = new StreamTransport({
    frame: (_, body) => payloads.push(`${sessionOf(body)} ${body.toString('utf8', SESSION_BYTES)}`),
    closed: (error) => ends.push(error),
  });
  return { transport: opened, payloads, ends };
}

describe('a lane over a data channel', () => {
  it('sends in order what was queued before its channel opened', async () => {
    const [near, far] = await pair();
    const [sender, receiver] = [transport(), transport()];
    for (const text of ['a', 'b']) sender.transport.put(FRAME.datagram, 7, NOTHING, Buffer.from(text));
    sender.transport.attach(near);
    sender.transport.put(FRAME.datagram, 8, Buffer.from('c'), Buffer.from('d'));
    receiver.transport.attach(far);
    await waitFor(() => receiver.payloads.length === 3);
    expect(receiver.payloads).toEqual(['7 a', '7 b', '8 cd']);
  });

  it('sends the last datagrams when it is closed', async () => {
    const [near, far] = await pair();
    const [sender, receiver] = [transport(), transport()];
    sender.transport.attach(near);
    receiver.transport.attach(far);
    sender.transport.put(FRAME.closed, 9, NOTHING, NOTHING);
    sender.transport.close();
    await waitFor(() => receiver.ends.length === 1 && near.destroyed);
    expect(receiver.payloads).toEqual(['9 ']);
    expect([...receiver.ends, ...sender.ends]).toEqual([null, null]);
  });

  it('ends at an invalid frame', async () => {
    const [near, far] = await pair();
    const receiver = transport();
    receiver.transport.attach(far);
    near.write(Buffer.from([1, 0xff, 0, 0, 1]));
    await waitFor(() => receiver.ends.length === 1);
    expect(receiver.ends[0]).toMatchObject({ code: 'protocol' });
    expect(far.destroyed).toBe(true);
  });

  it('ends at a frame without a session', async () => {
    const [near, far] = await pair();
    const receiver = transport();
    receiver.transport.attach(far);
    near.write(Buffer.from([1, 0, 0, 2, 0, 0]));
    await waitFor(() => receiver.ends.length === 1);
    expect(receiver.ends[0]).toMatchObject({ code: 'protocol' });
  });

  it('drops what does not fit, and buffers a limited amount', async () => {
    const [near] = await pair();
    const sender = transport();
    sender.transport.attach(near);
    for (let turn = 0; turn < 200; turn++) {
      for (let count = 0; count < 10; count++) sender.transport.put(FRAME.datagram, 1, NOTHING, Buffer.alloc(60_000));
      await new Promise(setImmediate);
    }
    expect(sender.transport.dropped).toBeGreaterThan(0);
    expect(near.writableLength).toBeLessThan(1024 * 1024);
  });
});

/** Two ends of a path that loses packets longer than `longest`. */
function path(longest: () => number, now: () => number, quickRounds = 0) {
  const keys = packetKeys(() => material);
  const sizes: number[] = [];
  const payloads: Buffer[] = [];
  const end = (mine: Buffer, theirs: Buffer, other: () => PacketTransport, watch: () => PathWatch): PacketTransport =>
    new PacketTransport({
      sealer: new PacketSealer(keys.link, mine),
      opener: new PacketOpener(theirs),
      now,
      transmit: (parts) => {
        const packet = Buffer.concat(parts);
        sizes.push(packet.length);
        if (packet.length <= longest()) other().receive(packet);
      },
      frame: (type, body) => {
        if (type === FRAME.probe) watch().probe(sessionOf(body), body);
        else if (type === FRAME.probed) watch().probed(sessionOf(body), body);
        else payloads.push(Buffer.from(body.subarray(SESSION_BYTES)));
      },
    });
  const near: PacketTransport = end(
    keys.agent,
    keys.server,
    () => far,
    () => nearWatch,
  );
  const far: PacketTransport = end(
    keys.server,
    keys.agent,
    () => near,
    () => farWatch,
  );
  const nearWatch = new PathWatch(near, now, quickRounds);
  const farWatch = new PathWatch(far, now);
  return { near, watch: nearWatch, sizes, payloads };
}
const material = randomBytes(70);

describe('a packet path', () => {
  it('is good while answers arrive, and lost when they are missing', () => {
    let now = 0;
    let longest = 2000;
    const { watch } = path(
      () => longest,
      () => now,
    );
    expect(watch.good).toBe(false);
    watch.tick(1000);
    expect(watch.good).toBe(true);
    longest = 0;
    for (now = 1000; now < 3500; now += 250) watch.tick(1000);
    expect(watch.good).toBe(true);
    watch.tick(1000);
    expect(watch.good).toBe(false);
    longest = 2000;
    now += 1000;
    watch.tick(1000);
    expect(watch.good).toBe(true);
  });

  it('has the round trip of the quickest recent answer, with quick probes at the start', () => {
    let now = 0;
    let delay = 5;
    const { watch } = path(
      () => {
        now += delay;
        return 2000;
      },
      () => now,
      3,
    );
    expect(watch.roundTripMs).toBe(Number.POSITIVE_INFINITY);
    watch.ask();
    // Each round has two packets of its own, and two answers.
    expect(now).toBe(4 * 4 * 5);
    expect(watch.roundTripMs).toBe(10);
    delay = 1;
    watch.ask();
    expect(watch.roundTripMs).toBe(2);
    delay = 20;
    for (let round = 0; round < 7; round++) watch.ask();
    expect(watch.roundTripMs).toBe(2);
    watch.ask();
    expect(watch.roundTripMs).toBe(40);
  });

  it('uses longer packets when they get through, and shorter ones when they do not', () => {
    let now = 0;
    let longest = 2000;
    const { near, watch, sizes, payloads } = path(
      () => longest,
      () => now,
    );
    const longestSent = (): number => {
      sizes.length = 0;
      near.put(FRAME.datagram, 1, NOTHING, Buffer.alloc(5000, 'x'));
      near.flush();
      return Math.max(...sizes);
    };
    expect(longestSent()).toBe(1200);
    watch.tick(1000);
    expect(longestSent()).toBe(1452);
    longest = 1300;
    for (now = 1000; now <= 4000; now += 1000) watch.tick(1000);
    expect(longestSent()).toBe(1200);
    expect(payloads).toHaveLength(3);
    expect(payloads.every((payload) => payload.equals(Buffer.alloc(5000, 'x')))).toBe(true);
  });

  it('puts several small datagrams into one packet', () => {
    const { near, sizes, payloads } = path(
      () => 2000,
      () => 0,
    );
    for (let count = 0; count < 20; count++) near.put(FRAME.datagram, count, NOTHING, Buffer.from('small'));
    near.flush();
    expect(payloads).toHaveLength(20);
    expect(sizes).toHaveLength(1);
  });
});
