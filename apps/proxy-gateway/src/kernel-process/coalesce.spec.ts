import { describe, expect, it } from 'vitest';
import { coalesce } from './coalesce.js';

function controlled() {
  const runs: { finish(value: number): void; fail(error: Error): void }[] = [];
  const ask = coalesce(() => new Promise<number>((resolve, reject) => runs.push({ finish: resolve, fail: reject })));
  return { runs, ask };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('coalesce', () => {
  it('gives all callers during a run one further run that begins after it', async () => {
    const { runs, ask } = controlled();
    const first = ask();
    const later = [ask(), ask(), ask()];
    expect(runs).toHaveLength(1);
    runs[0]!.finish(1);
    await settle();
    expect(runs).toHaveLength(2);
    runs[1]!.finish(2);
    expect([await first, ...(await Promise.all(later))]).toEqual([1, 2, 2, 2]);
    await settle();
    expect(runs).toHaveLength(2);
  });

  it('continues after a failure, which only the callers of that run see', async () => {
    const { runs, ask } = controlled();
    const first = ask();
    const second = ask();
    runs[0]!.fail(new Error('no'));
    await expect(first).rejects.toThrow('no');
    await settle();
    runs[1]!.finish(2);
    expect(await second).toBe(2);
    const third = ask();
    runs[2]!.finish(3);
    expect(await third).toBe(3);
  });

  it('starts a third run for a caller during the second', async () => {
    const { runs, ask } = controlled();
    void ask();
    const second = ask();
    runs[0]!.finish(1);
    await settle();
    const third = ask();
    runs[1]!.finish(2);
    await settle();
    runs[2]!.finish(3);
    expect(await Promise.all([second, third])).toEqual([2, 3]);
  });
});
