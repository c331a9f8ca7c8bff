import { describe, expect, it } from 'vitest';
import { oneRow, rowsOf, type SqlSource } from './rows-of.js';

const answering = (result: unknown): SqlSource => ({ query: () => Promise.resolve(result) });

describe('rowsOf', () => {
  it('returns the rows of a SELECT', async () => {
    expect(await rowsOf<{ id: number }>(answering([{ id: 1 }, { id: 2 }]), '')).toEqual([{ id: 1 }, { id: 2 }]);
  });

  it('unpacks the rows of an UPDATE or DELETE from their pair with the count', async () => {
    expect(await rowsOf<{ id: number }>(answering([[{ id: 1 }], 1]), '')).toEqual([{ id: 1 }]);
    expect(await rowsOf(answering([[], 0]), '')).toEqual([]);
  });
});

describe('oneRow', () => {
  it('returns the first row', async () => {
    expect(await oneRow<{ n: number }>(answering([{ n: 3 }]), '')).toEqual({ n: 3 });
  });

  it('throws when the statement returned no row', async () => {
    await expect(oneRow(answering([]), '')).rejects.toThrow('The statement returned no row.');
  });
});
