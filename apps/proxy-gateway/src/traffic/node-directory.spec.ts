import type { DataSource } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { NodeDirectory } from './node-directory.js';

/** A fake database: rows that a test changes, and the number of reads. */
function fakeDatabase() {
  const rows = [{ id: 1, name: 'first', type: 'ss', country: null, subscription_name: null }];
  const state = { rows, reads: 0 };
  const query = (): Promise<unknown> => {
    state.reads += 1;
    return Promise.resolve([...rows]);
  };
  return { state, directory: new NodeDirectory({ query } as unknown as DataSource) };
}

const second = { id: 2, name: 'second', type: 'ss', country: null, subscription_name: null };

describe('NodeDirectory (with a fake database)', () => {
  it('finds a node that was added right after the last read', async () => {
    const { state, directory } = fakeDatabase();
    await directory.names();
    state.rows.push(second);
    const names = await directory.names(['n2']);
    expect(names.chain(['PROXY', 'n2'])).toEqual(['PROXY', 'second']);
  });

  it('does not rely on a read that began before the node was added', async () => {
    const { state, directory } = fakeDatabase();
    const earlier = directory.names();
    state.rows.push(second);
    const names = await directory.names(['n2']);
    await earlier;
    expect(names.chain(['n2'])).toEqual(['second']);
  });

  it('reads once, not for every flow, if the node does not exist', async () => {
    const { state, directory } = fakeDatabase();
    for (let count = 0; count < 10; count++) await directory.names(['n99']);
    expect(state.reads).toBe(2);
  });
});
