import { describe, expect, it } from 'vitest';
import { DocumentCache } from './document-cache.js';

const MIB = 1024 * 1024;

function counting(bytes = 1) {
  const cache = new DocumentCache<{ body: Buffer; number: number }>();
  let built = 0;
  const get = (asked: string, version: string): Promise<number> =>
    cache
      .get(asked, version, () => Promise.resolve({ body: Buffer.alloc(bytes), number: ++built }))
      .then(({ number }) => number);
  return { cache, get };
}

describe('kept documents', () => {
  it('are good for one version alone', async () => {
    const { get } = counting();
    expect([
      await get('a', '1'),
      await get('a', '1'),
      await get('b', '1'),
      await get('a', '2'),
      await get('a', '2'),
    ]).toEqual([1, 1, 2, 3, 3]);
    // What was asked for has one place, so that the version before is gone.
    expect(await get('a', '1')).toBe(4);
  });

  it('are built once for all who ask at the same time', async () => {
    const { get } = counting();
    expect(await Promise.all([get('a', '1'), get('a', '1'), get('a', '2')])).toEqual([1, 1, 2]);
  });

  it('are built again after a failure', async () => {
    const { cache, get } = counting();
    await expect(cache.get('a', '1', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await get('a', '1')).toBe(1);
  });

  it('leave, the least recently used first, when there are too many bytes', async () => {
    const { get } = counting(16 * MIB);
    for (const asked of ['a', 'b', 'c', 'd']) await get(asked, '1');
    expect(await get('a', '1')).toBe(1);
    await get('e', '1');
    expect([await get('a', '1'), await get('b', '1')]).toEqual([1, 6]);
  });

  it('are not kept beyond a size', async () => {
    const { get } = counting(16 * MIB + 1);
    expect([await get('a', '1'), await get('a', '1')]).toEqual([1, 2]);
  });
});
