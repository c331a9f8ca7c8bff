import { expect, it } from 'vitest';
import { ClientDirectory } from './client-directory.js';
import type { ClientRow, ConfigRows } from '../common/config-rows.js';

const CLIENT: ClientRow = {
  id: 1,
  userId: 1,
  keyHash: 'new',
  previousKeyHash: 'old',
  previousKeyUntil: 1_000,
  enabled: true,
  expiresAt: null,
  rateLimit: 0,
  maxConnections: 0,
  encrypt: true,
};
const rowsOf = (revision: number, ...clients: ClientRow[]): ConfigRows => ({
  revision,
  clients,
  tunnels: [],
  hosts: [],
  ipRules: [],
  policies: [],
});

it('accepts the previous key until its end, and reports when that time has come', async () => {
  let now = 0;
  const directory = new ClientDirectory({ now: () => now, find: () => Promise.resolve(null) });
  directory.apply(rowsOf(1, CLIENT));
  expect(await directory.findByKeyHash('new')).toMatchObject({ id: 1, keyHash: 'new' });
  expect(directory.usesPreviousKey(1)).toBe(false);
  expect(await directory.findByKeyHash('old')).toMatchObject({ id: 1, keyHash: 'old' });
  expect(directory.usesPreviousKey(1)).toBe(true);
  now = 999;
  expect([directory.previousKeyEnded(), directory.isOutdated(1)]).toEqual([false, false]);
  now = 1_000;
  expect([directory.previousKeyEnded(), directory.isOutdated(1)]).toEqual([true, true]);
  expect(directory.previousKeyEnded()).toBe(false);
  expect(await directory.findByKeyHash('old')).toBeNull();
  expect(await directory.findByKeyHash('new')).toMatchObject({ id: 1 });
});

it('does not query the database for known keys, and checks the result of a query against the clock', async () => {
  const asked: string[] = [];
  const find = (keyHash: string) => {
    asked.push(keyHash);
    return Promise.resolve({ row: { ...CLIENT, previousKeyHash: 'older' }, revision: 2 });
  };
  const directory = new ClientDirectory({ now: () => 5_000, find });
  directory.apply(rowsOf(1, CLIENT));
  expect(await directory.findByKeyHash('old')).toBeNull();
  expect(asked).toEqual([]);
  expect(await directory.findByKeyHash('older')).toBeNull();
  expect(asked).toEqual(['older']);
});

it('prefers the client whose current key matches', async () => {
  const directory = new ClientDirectory({ now: () => 0, find: () => Promise.resolve(null) });
  directory.apply(
    rowsOf(1, { ...CLIENT, keyHash: 'old', previousKeyHash: null, previousKeyUntil: null }, { ...CLIENT, id: 2 }),
  );
  expect(await directory.findByKeyHash('old')).toMatchObject({ id: 1 });
});
