import { once } from 'node:events';
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import type { AgentLine } from '../test/agent-line.js';
import { readAll, TunnelRig } from '../test/tunnel-rig.js';
import { ask, udpSocket } from '../test/udp-rig.js';
import type { TunnelAgentEnvironment, TunnelServerEnvironment } from './index.js';

let rig: TunnelRig;
afterEach(() => rig.close());

interface Options {
  encrypt: boolean;
  server?: Partial<TunnelServerEnvironment>;
  agent?: Partial<TunnelAgentEnvironment>;
  direct?: boolean;
}

async function start({ encrypt, server, agent, direct = false }: Options): Promise<AgentLine> {
  rig = new TunnelRig(server);
  await rig.listen();
  const line = await rig.agentOnLine(encrypt, {
    ...(direct && { server: { host: '127.0.0.1', port: rig.port } }),
    ...agent,
  });
  await waitFor(() => rig.idleChannels > 0);
  return line;
}

type Direction = 'up' | 'down';
const ENDINGS = ['visitor', 'target', 'both', 'visitor resets', 'target resets'] as const;

interface Visit {
  up: number;
  down: number;
  /** Who ends first, or aborts after half of its bytes. */
  ending: (typeof ENDINGS)[number];
  pauses: boolean;
}

const size = fc.oneof(fc.nat(40), fc.nat(3000), fc.nat(400_000));
const visit: fc.Arbitrary<Visit> = fc.record({
  up: size,
  down: size,
  ending: fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...ENDINGS.slice(0, 3)) }, fc.constantFrom(...ENDINGS)),
  pauses: fc.boolean(),
});

/** Bytes of one visitor, one direction and one place: of no other. */
function pattern(visitor: number, direction: Direction, bytes: number): Buffer {
  const words = Uint32Array.from(
    { length: (bytes + 3) >> 2 },
    (_, place) => (visitor * 0x9e3779b1) ^ (place * 2 + (direction === 'up' ? 1 : 0)),
  );
  return Buffer.from(words.buffer, 0, bytes);
}

const HEAD_BYTES = 8;

/** What a side saw, and whether that ended as an end. */
interface Seen {
  bytes: Buffer[];
  ended: boolean;
  closed: boolean;
}

function watch(socket: Socket, pauses: boolean): Seen {
  const seen: Seen = { bytes: [], ended: false, closed: false };
  socket.on('end', () => (seen.ended = true));
  socket.on('close', () => (seen.closed = true));
  socket.on('data', (part: Buffer) => {
    seen.bytes.push(Buffer.from(part));
    if (!pauses || seen.bytes.length % 3 !== 1) return;
    socket.pause();
    setImmediate(() => socket.resume());
  });
  return seen;
}

/** One side of a visit: says its bytes and ends as it is to. */
function say(socket: Socket, bytes: Buffer, how: 'end' | 'reset' | 'after the other', other: Seen): void {
  if (how === 'reset') {
    socket.write(bytes.subarray(0, bytes.length >> 1), () => socket.resetAndDestroy());
  } else if (how === 'end') socket.end(bytes);
  else {
    socket.write(bytes);
    if (other.ended) socket.end();
    else socket.once('end', () => socket.end());
  }
}

function manner(ending: Visit['ending'], side: 'visitor' | 'target'): 'end' | 'reset' | 'after the other' {
  if (ending === `${side} resets`) return 'reset';
  return ending === side || ending === 'both' ? 'end' : 'after the other';
}

/** The target of the visits: each visitor says first which it is. */
class Stage {
  readonly visits: Visit[] = [];
  readonly seen = new Map<number, Seen>();

  serve(socket: Socket): void {
    const seen = watch(socket, false);
    socket.on('data', () => {
      const bytes = Buffer.concat(seen.bytes);
      if (bytes.length < HEAD_BYTES || this.seen.get(bytes.readUInt32BE(0)) === seen) return;
      const number = bytes.readUInt32BE(0);
      const one = this.visits[number];
      if (!one || this.seen.has(number)) return void socket.resetAndDestroy();
      this.seen.set(number, seen);
      say(socket, pattern(number, 'down', one.down), manner(one.ending, 'target'), seen);
    });
  }

  async visit(port: number, number: number): Promise<Seen & { from: number }> {
    const one = this.visits[number] as Visit;
    const socket = await rig.visit(port);
    const from = socket.localPort ?? 0;
    const seen = watch(socket, one.pauses);
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32BE(number, 0);
    socket.write(head);
    say(socket, pattern(number, 'up', one.up), manner(one.ending, 'visitor'), seen);
    await waitFor(() => seen.closed || (seen.ended && socket.writableFinished));
    return { ...seen, from };
  }
}

const isAborted = ({ ending }: Visit): boolean => ending.endsWith('resets');

describe.each([false, true])('visitors of a few reused channels, sealed: %s', (encrypt) => {
  it('get exactly their own bytes in order, however they and others end', async () => {
    const line = await start({ encrypt, server: { pool: { start: 2 } } });
    const stage = new Stage();
    const port = await rig.tunnel(1, [await rig.target((socket) => stage.serve(socket))]);
    const opened = line.accepted;
    let visitors = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(visit, { minLength: 8, maxLength: 12 }), async (visits) => {
        const first = stage.visits.length;
        stage.visits.push(...visits);
        rig.records.length = 0;
        visitors += visits.length;
        const came = await Promise.all(visits.map((_, index) => stage.visit(port, first + index)));
        await waitFor(() => rig.server.flows === 0 && rig.agents[0]?.agent.flows === 0);
        for (const [index, one] of visits.entries()) {
          const number = first + index;
          const [down, up] = [came[index], stage.seen.get(number)];
          const said = { up: pattern(number, 'up', one.up), down: pattern(number, 'down', one.down) };
          const received = {
            up: Buffer.concat(up?.bytes ?? []).subarray(HEAD_BYTES),
            down: Buffer.concat(down?.bytes ?? []),
          };
          for (const direction of ['up', 'down'] as const) {
            const expected = isAborted(one) ? said[direction].subarray(0, received[direction].length) : said[direction];
            expect(received[direction].equals(expected), `${number} ${direction}`).toBe(true);
          }
          if (isAborted(one)) continue;
          expect([down?.ended, up?.ended], `${number}`).toEqual([true, true]);
          const [record, ...more] = rig.records.filter(({ visitor }) => visitor.port === down?.from);
          expect(more).toEqual([]);
          expect([record?.upload, record?.download]).toEqual([HEAD_BYTES + one.up, one.down]);
        }
      }),
      { numRuns: 20 },
    );
    const aborted = stage.visits.filter(isAborted).length;
    // As many as a pool keeps, and others for those that were cut; not one for each visitor.
    expect(visitors).toBeGreaterThanOrEqual(160);
    expect(line.accepted - opened).toBeLessThanOrEqual(100 + 2 * aborted);
  }, 60_000);

  it('receive a complete answer that is still on its way, also if their channel is not reused', async () => {
    // Without a line between them, which would take everything at once.
    await start({ encrypt, server: { pool: { start: 1, visitors: 1 } }, direct: true });
    for (const bytes of [4_000_000, 5_000_000, 6_000_000, 7_000_000]) {
      const sent = pattern(bytes, 'down', bytes);
      const port = await rig.tunnel(1, [await rig.target((socket) => socket.resume().end(sent))]);
      const visitor = await rig.visit(port);
      visitor.pause();
      await waitFor(() => rig.agents[0]?.agent.flows === 1);
      visitor.end('and the end of the visitor, while the answer is under way');
      await waitFor(() => rig.server.flows === 0 || rig.server.connections(1).some(({ upload }) => upload > 0));
      await new Promise((resolve) => setImmediate(resolve));
      expect((await readAll(visitor.resume())).equals(sent)).toBe(true);
    }
  }, 60_000);
});

describe.each([false, true])('a channel that carried a visitor, sealed: %s', (encrypt) => {
  it('also carries datagrams', async () => {
    const line = await start({ encrypt, agent: { datagrams: { packets: false } }, server: { pool: { start: 1 } } });
    const socket = await udpSocket();
    socket.on('message', (payload, { port }) => socket.send(payload, port, '127.0.0.1'));
    const tunnels = [
      rig.tunnelConfig(1, [await rig.echo()]),
      rig.tunnelConfig(1, [socket.address().port], { id: 8, mode: 'udp' }),
    ];
    const [tcp, udp] = await rig.server.apply(rig.config({ tunnels }));
    for (let turn = 0; turn < 3; turn++) {
      const visitor = await rig.visit(tcp?.port ?? 0);
      visitor.end('visitor');
      expect(String(await readAll(visitor))).toBe('visitor');
      await waitFor(() => rig.server.flows === 0);
    }
    await waitFor(() => rig.idleChannels >= 2);
    const opened = line.accepted;
    const visitor = await udpSocket();
    for (const size of [1, 1400, 9000, 60_000]) {
      const question = pattern(size, 'up', size);
      expect((await ask(visitor, udp?.port ?? 0, question)).equals(question)).toBe(true);
    }
    expect(rig.server.agents()[0]?.packets).toBe(false);
    // The lane is the newest of the channels, which a visitor had.
    expect(line.accepted).toBe(opened);
    visitor.close();
    socket.close();
  });

  it('is cut when the client is disabled, together with a visitor that waits for the end of its target', async () => {
    await start({ encrypt });
    const sockets: Socket[] = [];
    const port = await rig.tunnel(1, [await rig.target((socket) => void sockets.push(socket.pause()))]);
    const visitor = await rig.visit(port);
    visitor.end(pattern(1, 'up', 24 * 1024 * 1024));
    const closed = once(visitor.resume(), 'close').catch(() => undefined);
    const target = await waitFor(() => sockets[0]);
    const config = rig.config({ tunnels: [rig.tunnelConfig(1, [1])] });
    await rig.server.apply({ ...config, clients: config.clients.map((one) => ({ ...one, enabled: false })) });
    await closed;
    await expect(readAll(target.resume())).rejects.toThrow();
    expect([rig.server.flows, rig.server.agents()]).toEqual([0, []]);
  });
});
