import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { waitFor } from '@gatehouse/testing';
import { TunnelError } from '../errors.js';
import type { ChannelTicket } from '../wire/messages.js';
import { encodeOpening } from '../wire/prelude.js';
import { Backoff } from '../base/backoff.js';
import { ChannelPool, DEFAULT_POOL_LIMITS, type PoolLimits } from './channel-pool.js';
import { TicketTable } from './ticket-table.js';

const cleanups: (() => unknown)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0).reverse()) cleanup();
});

/** A pool whose agent opens what it is asked for when `open` is called. */
async function rig(limits: Partial<PoolLimits> = {}, ticketMs = 15_000, quiet = false) {
  const clock = { now: 0 };
  const table = new TicketTable(ticketMs);
  const tickets: ChannelTicket[] = [];
  const pool = new ChannelPool({
    tickets: table,
    limits: { ...DEFAULT_POOL_LIMITS, ...limits },
    now: () => clock.now,
    sealed: false,
    longRecords: false,
    quiet,
    deliver: (more) => {
      tickets.push(...more);
    },
  });
  const listener = createServer({ allowHalfOpen: true, pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  cleanups.push(() => listener.close());
  const agents: Socket[] = [];
  const open = async (count: number): Promise<void> => {
    for (const ticket of tickets.splice(0, count)) {
      const agent = connect((listener.address() as AddressInfo).port, '127.0.0.1');
      const [stream] = (await once(listener, 'connection')) as [Socket];
      cleanups.push(
        () => agent.destroy(),
        () => stream.destroy(),
      );
      agents.push(agent);
      const found = table.redeem(encodeOpening(ticket, false));
      found?.holder.admit(found.ticket, stream);
    }
  };
  return { pool, table, tickets, open, agents, clock };
}

describe('a pool of channels', () => {
  it('requests its first channels, stays filled, and hands out the newest channel', async () => {
    const { pool, tickets, open } = await rig();
    await waitFor(() => tickets.length === 4);
    await open(4);
    expect(pool.idleCount).toBe(4);
    expect(pool.take()).not.toBeNull();
    await waitFor(() => tickets.length === 1);
  });

  it('doubles after a visitor had to wait, up to its limit, and shrinks while none has to', async () => {
    const { pool, tickets, open } = await rig({ cap: 10 });
    const waiting = pool.wait(5000);
    await waitFor(() => tickets.length === 9);
    await open(9);
    expect((await waiting).id).toHaveLength(32);
    expect(pool.idleCount).toBe(8);
    pool.sweep();
    pool.sweep();
    expect(pool.idleCount).toBe(6);
    for (let round = 0; round < 5; round++) pool.sweep();
    expect(pool.idleCount).toBe(4);
  });

  it('keeps channels that return after others were opened in their place, and opens none in the next burst', async () => {
    const { pool, tickets, open } = await rig({ start: 4, cap: 4 });
    await waitFor(() => tickets.length === 4);
    await open(4);
    const burst = async (): Promise<void> => {
      const taken = Array.from({ length: 4 }, () => pool.take());
      for (const channel of taken) expect(channel?.reuse?.wanted()).toBe(true);
      // The pool is filled in the next turn.
      await new Promise((resolve) => setImmediate(resolve));
      await open(tickets.length);
      for (const channel of taken) channel?.reuse?.free();
    };
    await burst();
    expect(pool.idleCount).toBe(8);
    for (let turn = 0; turn < 3; turn++) {
      await burst();
      expect([pool.idleCount, tickets.length]).toEqual([8, 0]);
    }
    const one = pool.take();
    pool.sweep();
    expect(pool.idleCount).toBe(4);
    expect(one?.reuse?.wanted()).toBe(true);
    one?.reuse?.free();
    expect(pool.idleCount).toBe(5);
  });

  it('grows with each wave of visitors that have to wait', async () => {
    const { pool, tickets } = await rig();
    const waiting: Promise<unknown>[] = [];
    const wait = () => waiting.push(pool.wait(5000).catch((error: TunnelError) => error.code));
    // A target of 8, 16, 32 and 64, and one for each that waits: two in one turn grow it once.
    for (const asked of [4, 10, 20, 38]) {
      await waitFor(() => tickets.length === asked);
      wait();
      wait();
    }
    await waitFor(() => tickets.length === 72);
    pool.close(new TunnelError('offline', 'gone'));
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 8 }, () => 'offline'));
  });

  it('is empty for a client without visitors, until the first one comes', async () => {
    const { pool, tickets, open, clock } = await rig();
    await waitFor(() => tickets.length === 4);
    await open(4);
    clock.now = 60_000;
    pool.sweep();
    expect(pool.idleCount).toBe(0);
    expect(pool.take()).toBeNull();
    await waitFor(() => tickets.length === 4);
  });

  it('starts empty if there are many agents', async () => {
    const { pool, tickets } = await rig({}, 15_000, true);
    pool.sweep();
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(tickets).toEqual([]);
    expect(pool.take()).toBeNull();
    await waitFor(() => tickets.length === 4);
  });

  it('probes idle channels before it hands them out', async () => {
    const { pool, tickets, open, clock, agents } = await rig({ answerMs: 5000 });
    await waitFor(() => tickets.length === 4);
    await open(4);
    clock.now = 12_000;
    expect(pool.take()).toBeNull();
    const waiting = pool.wait(5000);
    const answer = agents[2]?.once(
      'data',
      (probe: Buffer) => probe.equals(Buffer.alloc(4)) && answer?.write(Buffer.of(0)),
    );
    expect((await waiting).stream).toBeDefined();
    expect(pool.idleCount).toBe(3);
  });

  it('does not wait for the answers of closed channels', async () => {
    const { pool, tickets, open, clock } = await rig({ answerMs: 5000 });
    await waitFor(() => tickets.length === 4);
    await open(4);
    clock.now = 12_000;
    const waiting = pool.wait(5000);
    await waitFor(() => tickets.length > 0);
    await open(1);
    expect((await waiting).stream).toBeDefined();
  });

  it('replaces channels that do not answer', async () => {
    const { pool, tickets, open, agents } = await rig({ answerMs: 20 });
    await waitFor(() => tickets.length === 4);
    await open(4);
    const [first] = agents;
    first?.on('data', () => first.write(Buffer.of(0)));
    pool.sweep();
    await waitFor(() => pool.idleCount === 1 && tickets.length === 3);
  });

  it('drops channels that end, and agents that send too early', async () => {
    const { pool, tickets, open, agents } = await rig();
    await waitFor(() => tickets.length === 4);
    await open(4);
    agents[0]?.end();
    agents[1]?.resetAndDestroy();
    agents[2]?.write('hello');
    await waitFor(() => pool.idleCount === 1 && tickets.length === 3);
  });

  it('limits how many visitors wait and for how long', async () => {
    const { pool } = await rig({ waiting: 1 });
    const late = pool.wait(20);
    await expect(pool.wait(20)).rejects.toMatchObject({ code: 'overloaded' });
    await expect(late).rejects.toMatchObject({ code: 'timeout' });
  });

  it('ends waiting visitors and its tickets when it is closed', async () => {
    const { pool, table, tickets } = await rig();
    const waiting = pool.wait(5000);
    await waitFor(() => tickets.length > 0);
    pool.close(new TunnelError('offline', 'gone'));
    await expect(waiting).rejects.toMatchObject({ code: 'offline' });
    await expect(pool.wait(5000)).rejects.toMatchObject({ code: 'offline' });
    expect(table.size).toBe(0);
  });

  it('requests tickets again that were not used in time', async () => {
    const { tickets, table } = await rig({}, 20);
    await waitFor(() => tickets.length === 8);
    expect(table.redeem(encodeOpening(tickets[0] as ChannelTicket, false))).toBeNull();
  });
});

describe('the delay before the next attempt', () => {
  it('is random within a range that doubles up to 30 s', () => {
    const most = new Backoff(() => 1);
    expect(Array.from({ length: 8 }, () => most.next())).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
    most.reset();
    expect(most.next(1000)).toBe(1500);
    expect(new Backoff(() => 0).next()).toBe(0);
    expect(new Backoff(() => 0.5).next(100, 5000)).toBe(2600);
  });
});
