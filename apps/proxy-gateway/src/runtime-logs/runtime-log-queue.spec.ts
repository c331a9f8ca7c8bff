import { describe, expect, it } from 'vitest';
import { RuntimeLogQueue } from './runtime-log-queue.js';
import type { NewRuntimeLog } from './runtime-log-row.js';

const row = (message: string): NewRuntimeLog => ({
  time: '2026-01-01T00:00:00.000Z',
  level: 20,
  source: 'api',
  context: null,
  message,
  fields: {},
  request_id: null,
});

function queueWith(options: Partial<ConstructorParameters<typeof RuntimeLogQueue>[0]> = {}) {
  const written: string[][] = [];
  const failures: number[] = [];
  const dropped: number[] = [];
  const queue = new RuntimeLogQueue({
    write: async (rows) => void written.push(rows.map(({ message }) => message)),
    onFailure: (_error, waiting) => void failures.push(waiting),
    onDropped: (rows) => void dropped.push(rows),
    flushMs: 1_000_000,
    ...options,
  });
  return { queue, written, failures, dropped };
}

describe('RuntimeLogQueue', () => {
  it('writes in batches and in order', async () => {
    const { queue, written } = queueWith({ batch: 2 });
    for (const name of ['a', 'b', 'c']) queue.add(row(name));
    await queue.flush();
    expect(written).toEqual([['a', 'b'], ['c']]);
  });

  it('writes after a while without a call', async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const { queue } = queueWith({ flushMs: 1, write: async (rows) => resolve(rows.length) });
    queue.add(row('a'));
    expect(await promise).toBe(1);
  });

  it('keeps rows while the database is down, reports it once, and counts dropped rows', async () => {
    let down = true;
    const written: string[] = [];
    const { queue, failures, dropped } = queueWith({
      capacity: 3,
      write: async (rows) => {
        if (down) throw new Error('down');
        written.push(...rows.map(({ message }) => message));
      },
    });
    for (const name of ['a', 'b', 'c', 'd', 'e']) queue.add(row(name));
    await queue.flush();
    await queue.flush();
    expect([failures, written]).toEqual([[3], []]);
    down = false;
    await queue.flush();
    expect([written, dropped]).toEqual([['a', 'b', 'c'], [2]]);
  });

  it('does not feed itself: its own log of a failure is one row', async () => {
    let calls = 0;
    const { queue } = queueWith({
      write: async () => {
        calls++;
        throw new Error('down');
      },
      onFailure: () => queue.add(row('the database is down')),
    });
    queue.add(row('a'));
    await queue.flush();
    await queue.flush();
    expect(calls).toBe(2);
  });

  it('tries once more at the end and accepts nothing after it', async () => {
    const { queue, written } = queueWith();
    queue.add(row('last'));
    await queue.close();
    queue.add(row('too late'));
    await queue.flush();
    expect(written).toEqual([['last']]);
  });
});
