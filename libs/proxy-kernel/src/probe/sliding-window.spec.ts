import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slideOver } from './sliding-window.js';

interface Item {
  id: number;
  key: string;
  turns: number;
}

const items = fc
  .array(fc.record({ key: fc.constantFrom('a', 'b', 'c'), turns: fc.nat(4) }), { maxLength: 60 })
  .map((list) => list.map((item, id): Item => ({ id, ...item })));
const bounds = fc.record({ concurrency: fc.integer({ min: 1, max: 12 }), perKey: fc.integer({ min: 1, max: 5 }) });
const keyOf = ({ key }: Item): string => key;

async function turns(count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Counts what runs at once. */
class Gauge {
  readonly done: number[] = [];
  most = 0;
  running = 0;
  readonly byKey = new Map<string, number>();
  mostOfKey = 0;

  readonly work = async ({ id, key, turns: count }: Item): Promise<void> => {
    this.most = Math.max(this.most, ++this.running);
    this.byKey.set(key, (this.byKey.get(key) ?? 0) + 1);
    this.mostOfKey = Math.max(this.mostOfKey, this.byKey.get(key) ?? 0);
    await turns(count);
    this.running -= 1;
    this.byKey.set(key, (this.byKey.get(key) ?? 1) - 1);
    this.done.push(id);
  };
}

describe('a sliding window', () => {
  it('runs each item once and never more than allowed at a time', async () => {
    await fc.assert(
      fc.asyncProperty(items, bounds, async (list, limits) => {
        const gauge = new Gauge();
        await slideOver(list, gauge.work, { ...limits, keyOf, jitterMs: 1 });
        expect([...gauge.done].sort((a, b) => a - b)).toEqual(list.map(({ id }) => id));
        expect(gauge.most).toBeLessThanOrEqual(limits.concurrency);
        expect(gauge.mostOfKey).toBeLessThanOrEqual(limits.perKey);
      }),
      { numRuns: 60 },
    );
  });

  it('fills every place that keys leave free', async () => {
    const list = Array.from({ length: 40 }, (_, id) => ({ id, key: id < 20 ? 'a' : `k${id}`, turns: 2 }));
    const gauge = new Gauge();
    await slideOver(list, gauge.work, { concurrency: 10, perKey: 2, keyOf });
    expect(gauge.most).toBe(10);
    expect(gauge.mostOfKey).toBe(2);
  });

  it('begins the next as soon as one ends, whatever slow ones do', async () => {
    let release = (): void => undefined;
    const slow = new Promise<void>((resolve) => (release = resolve));
    const done: number[] = [];
    const list = Array.from({ length: 30 }, (_, id) => ({ id, key: `${id}`, turns: 1 }));
    const running = slideOver(
      list,
      async (item) => {
        if (item.id === 0) await slow;
        else await turns(1);
        done.push(item.id);
        if (done.length === 29) release();
      },
      { concurrency: 2, perKey: 2, keyOf },
    );
    await running;
    expect(done.at(-1)).toBe(0);
    expect(done).toHaveLength(30);
  });

  it('begins nothing after it was cancelled, and waits for running work', async () => {
    await fc.assert(
      fc.asyncProperty(items, bounds, fc.nat(30), async (list, limits, after) => {
        const controller = new AbortController();
        const gauge = new Gauge();
        let begun = 0;
        let begunWhenCancelled = list.length;
        const work = async (item: Item): Promise<void> => {
          begun += 1;
          if (begun > after && !controller.signal.aborted) {
            begunWhenCancelled = begun;
            controller.abort(new Error('enough'));
          }
          await gauge.work(item);
        };
        const all = slideOver(list, work, { ...limits, keyOf, jitterMs: 1, signal: controller.signal });
        if (list.length > after) await expect(all).rejects.toThrow('enough');
        else await all;
        expect(begun).toBeLessThanOrEqual(begunWhenCancelled);
        expect(gauge.running).toBe(0);
        expect(gauge.done).toHaveLength(begun);
      }),
      { numRuns: 60 },
    );
  });

  it('ends with the first failure', async () => {
    const done: number[] = [];
    const list = Array.from({ length: 20 }, (_, id) => ({ id, key: 'k', turns: 0 }));
    const work = async ({ id }: Item): Promise<void> => {
      await turns(1);
      if (id === 3) throw new Error('broken');
      done.push(id);
    };
    await expect(slideOver(list, work, { concurrency: 1, perKey: 1, keyOf })).rejects.toThrow('broken');
    expect(done).toEqual([0, 1, 2]);
  });

  it('does not wait for the jitter when it is cancelled or empty', async () => {
    const list = [{ id: 1, key: 'k', turns: 0 }];
    const gauge = new Gauge();
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(
      slideOver(list, gauge.work, { concurrency: 1, perKey: 1, keyOf, jitterMs: 1e6, signal }),
    ).rejects.toThrow('enough');
    expect(gauge.done).toEqual([]);
    await slideOver([], gauge.work, { concurrency: 1, perKey: 1, keyOf });
  });

  it('rejects with an error of the iterator, and waits for running work', async () => {
    function* items(): Generator<string> {
      yield 'one';
      yield 'two';
      throw new RangeError('no more items');
    }
    const ended: string[] = [];
    const work = async (item: string): Promise<void> => {
      await Promise.resolve();
      ended.push(item);
    };
    const run = slideOver(items(), work, { concurrency: 2, perKey: 2, keyOf: () => 'key' });
    await expect(run).rejects.toThrow('no more items');
    expect(ended).toEqual(['one', 'two']);
  });
});
