import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import fc from 'fast-check';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { ChannelPair, closePairs, read, sockets, type Read, type Side } from '../../test/channel-pair.js';
import { FramedStream } from './framed-stream.js';
import type { ReusableChannelStream } from './reusable-channel-stream.js';
import { channelKeys } from './sealed-records.js';
import { SealedStream } from './sealed-stream.js';

afterEach(closePairs);

const part = fc.uint8Array({ minLength: 1, maxLength: 400 });
const visit = fc.record({
  up: fc.array(part, { maxLength: 4 }),
  down: fc.array(part, { maxLength: 4 }),
  first: fc.constantFrom<Side>('agent', 'server'),
  /** How the visit is ended: an abort by a side at some moment, or cleanly. */
  abort: fc.option(fc.record({ by: fc.constantFrom<Side>('agent', 'server'), at: fc.nat(3) }), { freq: 4 }),
  pause: fc.boolean(),
});

describe.each([false, true])('a channel for several visitors, sealed: %s', (sealed) => {
  it('never mixes their bytes, however they end, and is not used again after an abort', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(visit, { minLength: 1, maxLength: 6 }), async (visits) => {
        const channel = new ChannelPair(sealed, await sockets());
        const { agent, server } = channel.sockets;
        for (const [index, one] of visits.entries()) {
          const ends = { agent: channel.next('agent'), server: channel.next('server') };
          const seen = { agent: read(ends.agent), server: read(ends.server) };
          if (one.pause) {
            ends.agent.pause();
            setImmediate(() => ends.agent.resume());
          }
          const abortAt = (moment: number): void => {
            if (one.abort?.at === moment) ends[one.abort.by].resetAndDestroy();
          };
          abortAt(0);
          for (const bytes of one.up) ends.server.write(bytes);
          for (const bytes of one.down) ends.agent.write(bytes);
          abortAt(1);
          const second = one.first === 'agent' ? 'server' : 'agent';
          ends[one.first].end();
          // Too late for this visitor, and not for the next one.
          ends[one.first].write(Buffer.from('after the end'));
          abortAt(2);
          if (one.abort) {
            if (one.abort.at > 2) ends[one.abort.by].resetAndDestroy();
            await waitFor(() => agent.destroyed && server.destroyed);
            expect(channel.freed).toEqual({ agent: index, server: index });
            const [up, down] = [Buffer.concat(one.up), Buffer.concat(one.down)];
            expect(up.indexOf(Buffer.concat(seen.agent.bytes))).toBe(0);
            expect(down.indexOf(Buffer.concat(seen.server.bytes))).toBe(0);
            return;
          }
          ends[second].end();
          await waitFor(() => channel.freed.agent === index + 1 && channel.freed.server === index + 1);
          expect(Buffer.concat(seen.agent.bytes)).toEqual(Buffer.concat(one.up));
          expect(Buffer.concat(seen.server.bytes)).toEqual(Buffer.concat(one.down));
          await waitFor(() => seen.agent.end === 'ended' && seen.server.end === 'ended');
          // What an owner does with a stream that is over does not reach the transport.
          for (const stream of [ends.agent, ends.server]) {
            expect(stream.destroyed).toBe(true);
            stream.write(Buffer.from('x'));
            stream.end();
            stream.pause();
            stream.destroy();
            stream.resetAndDestroy();
          }
          expect(agent.destroyed || server.destroyed).toBe(false);
        }
        agent.destroy();
        server.destroy();
      }),
      { numRuns: 40 },
    );
  });

  it('is not free before the agent has passed everything on', async () => {
    const channel = new ChannelPair(sealed, await sockets());
    const [agent, server] = [channel.next('agent'), channel.next('server')];
    const seen = read(agent);
    const ended = once(server, 'end');
    read(server);
    agent.pause();
    server.write(Buffer.from('late'));
    server.end();
    agent.end();
    await ended;
    expect(channel.freed).toEqual({ agent: 0, server: 0 });
    agent.resume();
    await waitFor(() => channel.freed.agent === 1 && channel.freed.server === 1);
    expect(String(Buffer.concat(seen.bytes))).toBe('late');
  });

  it('ends normally with an agent that does not keep it', async () => {
    const { agent: socket, server: serverSocket } = await sockets();
    const keys = channelKeys({ id: randomBytes(16), key: randomBytes(32) });
    const make = (of: Socket, side: Side): ReusableChannelStream =>
      sealed ? new SealedStream(of, keys, side) : new FramedStream(of);
    const [agent, server] = [make(socket, 'agent'), make(serverSocket, 'server')];
    const free = (): never => expect.fail('nobody said so');
    server.reuseWith({ side: 'server', readyMs: 60_000, wanted: () => true, free });
    const [up, down] = [read(agent), read(server)];
    agent.write(Buffer.from('down'));
    agent.end();
    await waitFor(() => down.end === 'ended');
    server.write(Buffer.from('up'));
    server.end();
    await waitFor(() => up.end === 'ended' && socket.destroyed && serverSocket.destroyed);
    expect([up, down].map(({ bytes }) => String(Buffer.concat(bytes)))).toEqual(['up', 'down']);
  });
});

describe('a framed channel that is kept', () => {
  async function kept(): Promise<{ agent: Socket; server: ReusableChannelStream; freed: () => number; seen: Read }> {
    const channel = new ChannelPair(false, await sockets());
    const server = channel.next('server');
    return { agent: channel.sockets.agent, server, freed: () => channel.freed.server, seen: read(server) };
  }
  const END = Buffer.alloc(3);
  const READY = Buffer.of(0);

  it.each([
    ['before the server’s end', Buffer.concat([END, READY]), false],
    ['twice', Buffer.concat([END, READY, READY]), true],
    ['with another byte', Buffer.concat([END, Buffer.of(1)]), true],
    ['with bytes behind it', Buffer.concat([END, READY, Buffer.from('x')]), true],
  ])('is ended by an agent that says it is free %s', async (_, bytes, ends) => {
    const { agent, server, freed } = await kept();
    if (ends) server.end();
    agent.resume();
    agent.write(bytes);
    await waitFor(() => server.destroyed && agent.readableEnded);
    expect(freed()).toBe(0);
  });

  it('is free when the agent says so, also in one piece with its end', async () => {
    const { agent, server, freed, seen } = await kept();
    server.end();
    agent.write(Buffer.concat([Buffer.of(0, 0, 1, 65), END, READY]));
    await waitFor(() => freed() === 1);
    expect(String(Buffer.concat(seen.bytes))).toBe('A');
    expect(agent.destroyed).toBe(false);
  });
});

describe('bytes that are pushed back after the end', () => {
  it('are read before the end', async () => {
    const { agent, server } = await sockets();
    const stream = new FramedStream(server);
    const first = once(stream, 'end');
    const seen: string[] = [];
    stream.on('data', (bytes) => seen.push(String(bytes)));
    stream.resume();
    agent.write(Buffer.concat([Buffer.of(0, 0, 2, 65, 66), Buffer.alloc(3)]));
    await first;
    stream.pause();
    stream.unshift(Buffer.from('B'));
    expect(stream.readableEnded).toBe(false);
    const second = once(stream, 'end');
    stream.resume();
    await second;
    expect(seen).toEqual(['AB', 'B']);
  });
});
