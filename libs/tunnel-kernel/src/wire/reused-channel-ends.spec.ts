import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { waitFor } from '@gatehouse/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { ChannelPair, closePairs, read, sockets, type Read, type Side } from '../../test/channel-pair.js';
import { FramedStream } from './framed-stream.js';
import type { ReusableChannelStream } from './reusable-channel-stream.js';
import { channelKeys } from './sealed-records.js';
import { SealedStream } from './sealed-stream.js';

afterEach(closePairs);

/** More than sockets of a loopback hold. */
const MUCH = Buffer.alloc(24 * 1024 * 1024, 'much');

const sizeOf = ({ bytes }: Read): number => bytes.reduce((sum, { length }) => sum + length, 0);

describe.each([false, true])('the transport of a visitor, sealed: %s', (sealed) => {
  async function visited(readyMs?: number): Promise<Record<Side, ReusableChannelStream> & { channel: ChannelPair }> {
    const channel = new ChannelPair(sealed, await sockets(), readyMs);
    return { channel, agent: channel.next('agent'), server: channel.next('server') };
  }

  it('belongs to the visitor until the agent has sent its last bytes, and is cut with the visitor until then', async () => {
    const { channel, agent, server } = await visited();
    read(agent);
    const came = read(server);
    server.end();
    await once(agent, 'end');
    server.pause();
    agent.write(MUCH);
    agent.end();
    expect(agent.destroyed).toBe(false);
    expect(channel.freed.agent).toBe(0);
    agent.resetAndDestroy();
    await waitFor(() => agent.destroyed);
    server.resume();
    await waitFor(() => came.end === 'aborted');
    expect(channel.freed).toEqual({ agent: 0, server: 0 });
  });

  it('is free afterwards, and all bytes arrive', async () => {
    const { channel, agent, server } = await visited();
    const gone = read(agent);
    const came = read(server);
    server.end();
    await once(agent, 'end');
    server.pause();
    agent.write(MUCH);
    agent.end();
    await new Promise((resolve) => setImmediate(resolve));
    // Neither has ended for the ledger: the last bytes are still in this process.
    expect([gone.end, channel.freed.agent]).toEqual(['ended', 0]);
    expect(agent.destroyed).toBe(false);
    server.resume();
    await waitFor(() => channel.freed.agent === 1 && channel.freed.server === 1);
    expect(sizeOf(came)).toBe(MUCH.length);
  });

  it('is cut by a server that ends the visitor before the agent has released it', async () => {
    const { channel, agent, server } = await visited();
    const came = read(agent);
    read(server);
    agent.pause();
    server.write(MUCH);
    server.end();
    agent.end();
    await once(server, 'end');
    server.resetAndDestroy();
    await waitFor(() => server.destroyed);
    agent.resume();
    await waitFor(() => came.end === 'aborted');
    expect(channel.freed).toEqual({ agent: 0, server: 0 });
  });

  it('is not closed by an owner that has only finished with it', async () => {
    const { channel, agent, server } = await visited();
    read(agent);
    read(server);
    agent.pause();
    server.write(Buffer.from('x'));
    server.end();
    agent.end();
    await once(server, 'end');
    server.destroy();
    agent.resume();
    await waitFor(() => channel.freed.agent === 1 && channel.freed.server === 1);
  });

  it('causes no failure for a finished visitor when it breaks then', async () => {
    const { channel, agent, server } = await visited();
    read(agent);
    const came = read(server);
    const errors: Error[] = [];
    server.on('error', (error) => errors.push(error));
    agent.pause();
    server.write(Buffer.from('x'));
    server.end();
    agent.end();
    await once(server, 'end');
    channel.sockets.agent.resetAndDestroy();
    await waitFor(() => server.destroyed);
    await new Promise((resolve) => setImmediate(resolve));
    expect([came.end, errors, channel.freed.server]).toEqual(['ended', [], 0]);
  });

  it.each<Side>(['agent', 'server'])(
    'ends with all bytes of both directions if the %s wants no further visitor',
    async (side) => {
      const { channel, agent, server } = await visited();
      const [up, down] = [read(agent), read(server)];
      const errors: Error[] = [];
      server.on('error', (error) => errors.push(error));
      channel.wanted[side] = false;
      channel.onFree.agent = () => void channel.sockets.agent.on('end', () => channel.sockets.agent.destroy()).resume();
      agent.pause();
      server.write(MUCH);
      server.end();
      agent.write(Buffer.from('down'));
      agent.end();
      await once(server, 'end');
      agent.resume();
      await waitFor(() => channel.sockets.agent.destroyed && channel.sockets.server.destroyed);
      expect([up.end, down.end]).toEqual(['ended', 'ended']);
      expect([sizeOf(up), String(Buffer.concat(down.bytes))]).toEqual([MUCH.length, 'down']);
      expect([channel.freed.server, errors]).toEqual([0, []]);
    },
  );

  it('delivers everything to an agent that does not support reuse and ends first', async () => {
    const { agent: socket, server: serverSocket } = await sockets();
    const keys = channelKeys({ id: randomBytes(16), key: randomBytes(32) });
    const make = (of: Socket, side: Side): ReusableChannelStream =>
      sealed ? new SealedStream(of, keys, side) : new FramedStream(of);
    const [agent, server] = [make(socket, 'agent'), make(serverSocket, 'server')];
    const free = (): never => expect.fail('nobody said so');
    server.reuseWith({ side: 'server', readyMs: 60_000, wanted: () => true, free });
    const up = read(agent);
    read(server);
    agent.pause();
    server.write(MUCH);
    server.end();
    // With the end of its transport, while most of the visitor's bytes have not left the server.
    agent.end();
    await once(server, 'end');
    agent.resume();
    await waitFor(() => socket.destroyed && serverSocket.destroyed);
    expect([sizeOf(up), up.end]).toEqual([MUCH.length, 'ended']);
  });

  it('is given up if the agent does not release it in time, and the visitor’s bytes still arrive', async () => {
    const { channel, agent, server } = await visited(20);
    const up = read(agent);
    const down = read(server);
    agent.pause();
    server.write(MUCH);
    server.end();
    agent.end();
    const closed = new Promise((resolve) => server.on('close', () => resolve(null)));
    await once(server, 'end');
    // Past the deadline. The loop makes the test independent of the machine's speed.
    await waitFor(() => channel.sockets.server.writableEnded);
    expect(server.destroyed).toBe(false);
    agent.resume();
    await closed;
    await waitFor(() => channel.freed.agent === 1);
    expect([sizeOf(up), up.end, down.end]).toEqual([MUCH.length, 'ended', 'ended']);
    expect(channel.freed.server).toBe(0);
  });

  it.each([true, false])('does not wait forever for an agent that does not end it, wanted: %s', async (wanted) => {
    const { channel, agent, server } = await visited(20);
    channel.wanted.server = wanted;
    read(server);
    const up = read(agent);
    // Hears nothing, and says no more.
    channel.sockets.agent.pause();
    server.write(Buffer.from('up'));
    server.end();
    agent.end();
    await once(server, 'close');
    expect(channel.freed.server).toBe(0);
    channel.sockets.agent.resume();
    await waitFor(() => up.end === 'ended');
    expect(String(Buffer.concat(up.bytes))).toBe('up');
  });

  it('is read to the end even if the end arrives before its owner', async () => {
    const { channel, agent, server } = await visited();
    read(agent);
    agent.end();
    server.resume();
    await once(server, 'end');
    // As a reader that hands over does.
    server.pause();
    server.end();
    await waitFor(() => channel.freed.agent === 1 && channel.freed.server === 1);
  });
});
