import type { ConnectionRecord } from '@gatehouse/proxy-kernel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aDelta, aRecord } from '../../test/support/flows.js';
import type { AccountingBatch } from './accounting-batch.js';
import { AccountingQueue } from './accounting-queue.js';
import type { AccountingQueueOptions } from './accounting-queue.js';

interface Written {
  sequence: number;
  ids: string[];
}

/** A queue that records its writes; `failures` of them fail. */
function aQueue(overrides: Partial<AccountingQueueOptions> = {}) {
  const written: Written[] = [];
  const attempts: { sequence: number; batch: AccountingBatch }[] = [];
  const state = { failures: 0, lost: [] as string[], dropped: 0, waits: [] as number[] };
  const queue = new AccountingQueue({
    write: async (batch, sequence) => {
      attempts.push({ sequence, batch });
      if (state.failures > 0) {
        state.failures--;
        throw new Error('connection refused');
      }
      written.push({ sequence, ids: batch.logs.map((record) => record.id) });
    },
    onFailure: (_error, retryMs) => state.waits.push(retryMs),
    onLost: (_error, batch) => state.lost.push(...batch.logs.map(({ id }) => id)),
    onDropped: (rows) => (state.dropped += rows),
    ...overrides,
  });
  return { queue, written, attempts, state };
}

const record = (id: number) => aRecord({ id: String(id) });

function add(queue: AccountingQueue, closed: ConnectionRecord[], keepLogs: boolean) {
  queue.add({ closed, traffic: [], source: null }, keepLogs);
}

describe('AccountingQueue', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('writes in one batch, within a second', async () => {
    const { queue, written } = aQueue();
    add(queue, [record(1)], true);
    add(queue, [record(2)], true);
    expect(written).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(written).toEqual([{ sequence: 1, ids: ['1', '2'] }]);
  });

  it('does nothing while it is empty', async () => {
    const { attempts } = aQueue();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(attempts).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not wait for the clock once a batch is full', async () => {
    const { queue, written } = aQueue();
    add(
      queue,
      Array.from({ length: 2_000 }, (_, id) => record(id)),
      true,
    );
    await vi.advanceTimersByTimeAsync(0);
    expect(written).toHaveLength(1);
  });

  it('repeats the same batch with its number, and sends later records after it', async () => {
    const { queue, written, attempts, state } = aQueue();
    state.failures = 3;
    add(queue, [record(1)], true);
    await vi.advanceTimersByTimeAsync(300);
    add(queue, [record(2)], true);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(attempts.map((attempt) => attempt.sequence)).toEqual([1, 1, 1, 1, 2]);
    expect(new Set(attempts.slice(0, 4).map((attempt) => attempt.batch)).size).toBe(1);
    expect(written).toEqual([
      { sequence: 1, ids: ['1'] },
      { sequence: 2, ids: ['2'] },
    ]);
    expect(state.waits).toEqual([250, 500, 1_000]);
  });

  it('sets aside a row that the database refuses, and writes all others', async () => {
    const refusal = Object.assign(new Error('unsupported Unicode escape sequence'), {
      severity: 'ERROR',
      code: '22P05',
    });
    const sequences: number[] = [];
    const ids: string[] = [];
    const { queue, state } = aQueue({
      write: async (batch, sequence) => {
        sequences.push(sequence);
        if (batch.logs.some(({ id }) => id === '3')) throw refusal;
        ids.push(...batch.logs.map(({ id }) => id));
      },
    });
    add(queue, [1, 2, 3, 4, 5].map(record), true);
    expect(await queue.flush()).toBe(true);
    add(queue, [record(6)], true);
    expect(await queue.flush()).toBe(true);
    expect(state.lost).toEqual(['3']);
    expect(ids).toEqual(['1', '2', '4', '5', '6']);
    // Each part has its own number, since the database accepts a number once.
    expect(new Set(sequences).size).toBe(sequences.length);
    expect(state.waits).toEqual([]);
  });

  it('keeps a bounded number of rows while the database is away, and every byte', async () => {
    const { queue, attempts, state } = aQueue({ limits: { logRows: 3, domains: 10 } });
    state.failures = 1;
    add(queue, [record(0)], true);
    await vi.advanceTimersByTimeAsync(260);
    for (let id = 1; id <= 10; id++) add(queue, [record(id)], true);
    await vi.advanceTimersByTimeAsync(10_000);
    const [, , last] = attempts;
    expect(last?.batch.logs).toHaveLength(3);
    expect([...last!.batch.domains.values()]).toMatchObject([{ requests: 10, upload: 1_000, download: 20_000 }]);
    expect(state.dropped).toBe(7);
  });

  it('writes the rest when it closes, including records that came during a write', async () => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const sequences: number[] = [];
    const { queue } = aQueue({
      write: async (_batch, sequence) => {
        if (sequence === 1) await gate;
        sequences.push(sequence);
      },
    });
    add(queue, [record(1)], true);
    await vi.advanceTimersByTimeAsync(300);
    const delta = aDelta({ outbounds: { DIRECT: { upload: 1, download: 1, opened: 1, failed: 0 } } });
    queue.add({ closed: [], traffic: [delta], source: null }, true);
    const closed = queue.close();
    release();
    expect(await closed).toBe(true);
    expect(sequences).toEqual([1, 2]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('reports that the last write failed, and leaves no timer behind', async () => {
    const { queue, state } = aQueue();
    state.failures = 5;
    add(queue, [record(1)], true);
    expect(await queue.close()).toBe(false);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('counts bytes of flows whose log rows are not wanted', async () => {
    const { queue, attempts } = aQueue();
    add(queue, [record(1)], false);
    await queue.flush();
    expect(attempts[0]?.batch.logs).toEqual([]);
    expect(attempts[0]?.batch.domains.size).toBe(1);
  });
});
