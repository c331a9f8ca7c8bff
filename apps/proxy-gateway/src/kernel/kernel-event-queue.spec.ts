import { describe, expect, it, vi } from 'vitest';
import type { ConnectionRecord } from '@gatehouse/proxy-kernel';
import { KernelEventQueue } from './kernel-event-queue.js';
import type { EventBatch } from '../common/kernel-ipc.js';

const record = (id: string): ConnectionRecord => ({ id }) as ConnectionRecord;

describe('KernelEventQueue', () => {
  it('sends the events of one interval as one batch', async () => {
    vi.useFakeTimers();
    const batches: EventBatch[] = [];
    const queue = new KernelEventQueue((batch) => Promise.resolve(void batches.push(batch)), 200);
    for (let i = 0; i < 50; i++) queue.closed(record(`c${i}`));
    await vi.advanceTimersByTimeAsync(250);
    vi.useRealTimers();
    expect(batches.map(({ closed }) => closed.length)).toEqual([50]);
  });

  it('does not keep a record for long', async () => {
    vi.useFakeTimers();
    const send = vi.fn(() => Promise.resolve());
    new KernelEventQueue(send).closed(record('a'));
    await vi.advanceTimersByTimeAsync(20);
    vi.useRealTimers();
    expect(send).toHaveBeenCalledTimes(1);
  });

  it('has one batch under way at a time and loses nothing while the reader is slow', async () => {
    const batches: EventBatch[] = [];
    let underWay = 0;
    let most = 0;
    const queue = new KernelEventQueue(async (batch) => {
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setImmediate(resolve));
      batches.push(batch);
      underWay--;
    }, 1);
    for (let i = 0; i < 9_000; i++) {
      queue.closed(record(`c${i}`));
      if (i % 500 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await queue.flush();
    const ids = batches.flatMap(({ closed }) => closed.map(({ id }) => id));
    expect(ids).toEqual(Array.from({ length: 9_000 }, (_, i) => `c${i}`));
    expect(most).toBe(1);
  });

  it('counts events that do not fit', async () => {
    const batches: EventBatch[] = [];
    const queue = new KernelEventQueue((batch) => Promise.resolve(void batches.push(batch)), 60_000);
    for (let i = 0; i < 100_003; i++) queue.closed(record('c'));
    await queue.flush();
    expect(batches.reduce((sum, { closed }) => sum + closed.length, 0)).toBe(100_000);
    expect(batches.reduce((sum, { dropped }) => sum + dropped.closed, 0)).toBe(3);
  });

  it('keeps the newest log lines, and counts the others', async () => {
    const batches: EventBatch[] = [];
    const queue = new KernelEventQueue((batch) => Promise.resolve(void batches.push(batch)), 60_000);
    for (let i = 0; i < 2_003; i++) queue.log({ at: 0, level: 'info', message: `line ${i}` });
    await queue.flush();
    const [batch] = batches;
    expect([batch?.logs.length, batch?.logs[0]?.message, batch?.logs.at(-1)?.message]).toEqual([
      2_000,
      'line 3',
      'line 2002',
    ]);
    expect(batch?.dropped.logs).toBe(3);
  });

  it('continues after a failed send', async () => {
    let calls = 0;
    const queue = new KernelEventQueue(
      () => (calls++ === 0 ? Promise.reject(new Error('gone')) : Promise.resolve()),
      1,
    );
    queue.closed(record('a'));
    await queue.flush();
    queue.closed(record('b'));
    await queue.flush();
    expect(calls).toBe(2);
  });
});
