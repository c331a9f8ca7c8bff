import { randomBytes } from 'node:crypto';
import { createSecretBox } from '@gatehouse/net';
import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dataKeyColumn, loadDataKey } from './data-keys.js';
import { resealDatabase, UnreadableSecretsError, type SealedColumn } from './reseal.js';

const [older, newer] = [randomBytes(32), randomBytes(32)];
const before = createSecretBox(older);
const both = createSecretBox([newer, older]);
const after = createSecretBox(newer);

let database: TestDatabase;
let client: pg.Client;
beforeEach(async () => {
  database = await createTestDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  await client.query(`CREATE TABLE notes (id bigint PRIMARY KEY, sealed text);
    CREATE TABLE data_keys (name text PRIMARY KEY, sealed_key text NOT NULL)`);
});
afterEach(async () => {
  await client.end();
  await database.drop();
});

const notes = (box = both): SealedColumn => ({
  table: 'public.notes',
  key: ['id'],
  column: 'sealed',
  box,
  place: ({ id }) => `notes:${String(id)}`,
});

const reseal = async (columns: SealedColumn[]): Promise<string[]> =>
  (await resealDatabase(database.url, columns)).map(({ en }) => en);

async function insert(id: number, sealed: string | null): Promise<void> {
  await client.query('INSERT INTO notes VALUES ($1, $2)', [id, sealed]);
}

describe('sealing again with the newest key', () => {
  it('changes texts of older keys, over several batches, and nothing else', async () => {
    for (let id = 1; id <= 1201; id += 1) await insert(id, before.seal(`note ${id}`, `notes:${id}`));
    const kept = after.seal('new', 'notes:2000');
    await insert(2000, kept);
    await insert(2001, null);
    expect(await reseal([notes()])).toEqual(['public.notes.sealed: 1201 sealed again']);
    const { rows } = await client.query<{ id: string; sealed: string | null }>('SELECT * FROM notes ORDER BY id');
    for (const { id, sealed } of rows.slice(0, 1201)) {
      expect(after.open(sealed ?? '', `notes:${id}`)).toBe(`note ${id}`);
    }
    expect(rows.slice(1201).map(({ sealed }) => sealed)).toEqual([kept, null]);
    expect(await reseal([notes()])).toEqual(['public.notes.sealed: 0 sealed again']);
  });

  it('binds texts to their rows that were bound to the table alone, with any key', async () => {
    await insert(1, after.seal('one', 'notes'));
    await insert(2, before.seal('two', 'notes'));
    const kept = after.seal('three', 'notes:3');
    await insert(3, kept);
    const columns = [{ ...notes(), formerPlace: 'notes' }];
    expect(await reseal(columns)).toEqual(['public.notes.sealed: 2 sealed again']);
    const { rows } = await client.query<{ sealed: string }>('SELECT sealed FROM notes ORDER BY id');
    const [one = '', two = '', three = ''] = rows.map(({ sealed }) => sealed);
    expect([after.open(one, 'notes:1'), after.open(two, 'notes:2'), three]).toEqual(['one', 'two', kept]);
    expect(await reseal(columns)).toEqual(['public.notes.sealed: 0 sealed again']);
  });

  it('keeps texts that no key opens, and reports them', async () => {
    const foreign = createSecretBox(randomBytes(32)).seal('x', 'notes:1');
    await insert(1, foreign);
    await insert(2, before.seal('y', 'notes:2'));
    const error = await resealDatabase(database.url, [notes()]).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(UnreadableSecretsError);
    const { text } = error as UnreadableSecretsError;
    expect(text.en).toMatch(/1 sealed again, 1 that none of the keys opens\n.*GATEHOUSE_SECRET_KEYS/);
    expect(text['zh-CN']).toMatch(/已重新加密 1 条，1 条无法用任何密钥打开\n.*GATEHOUSE_SECRET_KEYS/);
    const { rows } = await client.query<{ sealed: string }>('SELECT sealed FROM notes ORDER BY id');
    expect(rows[0]?.sealed).toBe(foreign);
    expect(after.open(rows[1]?.sealed ?? '', 'notes:2')).toBe('y');
  });

  it('keeps data keys as they were', async () => {
    const load = (secretKeys: Buffer[]): Promise<Buffer> =>
      loadDataKey({
        queries: { query: async (sql, values) => (await client.query(sql, values)).rows },
        box: createSecretBox(secretKeys),
        secretKeys,
        name: 'pepper',
        purpose: 'a test',
      });
    const first = await load([older]);
    expect(await load([newer, older])).toEqual(first);
    await resealDatabase(database.url, [dataKeyColumn('public', both)]);
    expect(await load([newer])).toEqual(first);
    await expect(load([older])).rejects.toThrow(/another GATEHOUSE_SECRET_KEY/);
  });
});
