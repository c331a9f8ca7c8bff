import { describe, expect, it, vi } from 'vitest';
import { RevocableCache } from './revocable-cache.js';
import type { Revocations } from './revocations.js';

/** Revocations as a test wants them: without a database. */
class FakeRevocations {
  sequence = 0;
  readonly marks = new Map<string, number>();
  revoke(subject: string): void {
    this.sequence += 1;
    this.marks.set(subject, this.sequence);
  }
  isStale(sequence: number, subjects: readonly string[]): boolean {
    return subjects.some((subject) => (this.marks.get(subject) ?? 0) > sequence);
  }
}

const setUp = () => {
  const revocations = new FakeRevocations();
  const cache = new RevocableCache<string>(revocations as unknown as Revocations, 2, (value) => [value]);
  return { revocations, cache };
};

describe('a revocable cache', () => {
  it('loads once for many concurrent callers, and then uses the value', async () => {
    const { cache } = setUp();
    const load = vi.fn(async () => 'a');
    expect(await Promise.all([cache.get('k', load), cache.get('k', load), cache.get('k', load)])).toEqual([
      'a',
      'a',
      'a',
    ]);
    await cache.get('k', load);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('remembers that a value is absent', async () => {
    const { cache } = setUp();
    const load = vi.fn(async () => null);
    await cache.get('k', load);
    expect(await cache.get('k', load)).toBeNull();
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('loads again after a revocation of its subject, and of no other', async () => {
    const { cache, revocations } = setUp();
    const load = vi.fn(async () => 'a');
    await cache.get('k', load);
    revocations.revoke('b');
    await cache.get('k', load);
    expect(load).toHaveBeenCalledTimes(1);
    revocations.revoke('a');
    await cache.get('k', load);
    expect(load).toHaveBeenCalledTimes(2);
  });

  it('does not store the result of a load that began before a revocation', async () => {
    const { cache, revocations } = setUp();
    const first = Promise.withResolvers<string>();
    const began = cache.get('k', () => first.promise);
    revocations.revoke('a');
    expect(await cache.get('k', async () => null)).toBeNull();
    first.resolve('a');
    await began;
    const load = vi.fn(async () => 'a');
    await cache.get('k', load);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('does not remember a failure', async () => {
    const { cache } = setUp();
    await expect(cache.get('k', () => Promise.reject(new Error('down')))).rejects.toThrow('down');
    expect(await cache.get('k', async () => 'a')).toBe('a');
  });
});
