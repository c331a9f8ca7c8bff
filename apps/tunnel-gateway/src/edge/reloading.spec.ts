import { describe, expect, it } from 'vitest';
import { Reloading } from './reloading.js';

interface Load {
  everything: boolean;
  finish(): void;
  fail(error: Error): void;
}

interface Rig {
  reloading: Reloading;
  loads: Load[];
  failures: unknown[];
}

function rig(onLoad: (count: number) => void = () => undefined): Rig {
  const loads: Load[] = [];
  const failures: unknown[] = [];
  const reloading = new Reloading({
    load: (everything) => {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      loads.push({ everything, finish: resolve, fail: reject });
      onLoad(loads.length);
      return promise;
    },
    onFailure: (error) => failures.push(error),
  });
  return { reloading, loads, failures };
}

/** Resolves after everything that only waits for promises has happened. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('changes', () => {
  it('are loaded one load at a time; one more load covers all changes that arrive during a load', async () => {
    const { reloading, loads } = rig();
    const first = reloading.news();
    await settled();
    const others = [reloading.news(), reloading.news(), reloading.news()];
    await settled();
    expect(loads).toHaveLength(1);
    loads[0]?.finish();
    await settled();
    expect(loads).toHaveLength(2);
    loads[1]?.finish();
    await Promise.all([first, ...others]);
    expect(loads).toHaveLength(2);
  });

  it('that arrive at the moment a load ends are not lost', async () => {
    const { reloading, loads } = rig();
    for (let turns = 0; turns < 10; turns++) {
      const before = loads.length;
      const loading = reloading.news();
      await settled();
      loads.at(-1)?.finish();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      const late = reloading.news();
      await settled();
      // One more, whether the first was over already or not.
      expect(loads).toHaveLength(before + 2);
      loads.at(-1)?.finish();
      await Promise.all([loading, late]);
    }
  });

  it('caused by a load are loaded as well', async () => {
    const { reloading, loads } = rig((count) => {
      if (count === 1) void reloading.news(true);
      loads.at(-1)?.finish();
    });
    await reloading.news();
    expect(loads.map(({ everything }) => everything)).toEqual([false, true]);
  });

  it('retry a failed load, which stays a full load until one succeeds', async () => {
    const { reloading, loads, failures } = rig();
    const first = reloading.news(true);
    await settled();
    const error = new Error('away');
    loads[0]?.fail(error);
    await first;
    expect(failures).toEqual([error]);
    await settled();
    expect(loads).toHaveLength(1);
    const second = reloading.news();
    await settled();
    loads[1]?.finish();
    await second;
    const third = reloading.news();
    await settled();
    loads[2]?.finish();
    await third;
    expect(loads.map(({ everything }) => everything)).toEqual([true, true, false]);
  });

  it('that arrive during a failing load start one more load at once', async () => {
    const { reloading, loads } = rig();
    const loading = reloading.news(true);
    await settled();
    void reloading.news();
    loads[0]?.fail(new Error('away'));
    await settled();
    expect(loads.map(({ everything }) => everything)).toEqual([true, true]);
    loads[1]?.finish();
    await loading;
  });

  it('cause an ordinary failure if a load throws synchronously', async () => {
    const failures: unknown[] = [];
    const reloading = new Reloading({
      load: () => {
        throw new Error('at once');
      },
      onFailure: (error) => failures.push(error),
    });
    await reloading.news();
    await reloading.news();
    expect(failures).toHaveLength(2);
  });
});

describe('stopping', () => {
  it('waits for the running load and starts no other', async () => {
    const { reloading, loads } = rig();
    const loading = reloading.news();
    await settled();
    void reloading.news();
    let over = false;
    const stopped = reloading.stop().then(() => (over = true));
    await settled();
    expect(over).toBe(false);
    loads[0]?.finish();
    await Promise.all([loading, stopped]);
    await reloading.news();
    expect(loads).toHaveLength(1);
  });

  it('is immediate if no load runs, even with changes that were not loaded', async () => {
    const { reloading, loads } = rig();
    await reloading.stop();
    const other = rig();
    const loading = other.reloading.news();
    await other.reloading.stop();
    await loading;
    expect([...loads, ...other.loads]).toEqual([]);
  });
});
