import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestDatabase } from '@gatehouse/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { withClient } from '../pg-client.js';
import { backupDatabase } from './backup-database.js';
import { readBackupHeader } from './backup-file.js';
import { BackupError, isPartitionBound } from './backup-header.js';
import { parentsFirst } from './catalogue.js';
import { contents, freshShop, restore, SCHEMAS, seed } from '../../test/shop.js';

describe('a backup', () => {
  let source: TestDatabase;
  let target: TestDatabase;
  let folder: string;
  let file: string;

  beforeAll(async () => {
    source = await freshShop();
    await seed(source.url);
  });
  afterAll(() => source.drop());
  beforeEach(async () => {
    target = await freshShop();
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-backup-'));
    file = join(folder, 'gatehouse.backup');
  });
  afterEach(async () => {
    await target.drop();
    rmSync(folder, { recursive: true });
  });

  const save = () => backupDatabase(source.url, file, { schemas: SCHEMAS });

  it('restores every row of every type, and new rows continue the saved sequences', async () => {
    const header = await save();
    expect(header.schemas).toEqual([
      { name: 'shop', migrations: ['CreateShop1700000000001', 'AddStock1700000000002'] },
      { name: 'shop_ops', migrations: [] },
    ]);
    expect(header.tables.map(({ name, rows }) => `${name} ${rows}`).toSorted((a, b) => a.localeCompare(b))).toEqual([
      'answers 2',
      'counter 2',
      'journal 2',
      'Odd name 1',
      'questions 2',
      'stock 50000',
      'visits 2',
    ]);
    expect(header.partitions.map(({ name, bound }) => `${name} ${bound}`)).toEqual([
      "visits_20260102 FOR VALUES FROM ('2026-01-02 00:00:00+00') TO ('2026-01-03 00:00:00+00')",
      'visits_default DEFAULT',
    ]);
    expect(await readBackupHeader(file)).toEqual(header);
    await restore(target.url, file);
    expect(await contents(target.url)).toEqual(await contents(source.url));
    const next = await withClient(target.url, (client) =>
      client.query(`INSERT INTO shop.questions (body) VALUES ('new') RETURNING id, shout`),
    );
    expect(next.rows).toEqual([{ id: 3, shout: 'NEW' }]);
    const reply = await withClient(target.url, (client) =>
      client.query('INSERT INTO shop.answers (question_id) VALUES (3) RETURNING id'),
    );
    expect(reply.rows).toEqual([{ id: 3 }]);
  });

  it('leaves one private file and nothing else, and no file if it fails', async () => {
    await save();
    expect(readdirSync(folder)).toEqual(['gatehouse.backup']);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    rmSync(file);
    await expect(backupDatabase(source.url, file, { schemas: ['nowhere'] })).rejects.toBeInstanceOf(BackupError);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('contains a single moment, whatever is written in the meantime', async () => {
    let writing = true;
    const writer = withClient(source.url, async (client) => {
      for (let id = 100_000; writing; id += 1) {
        await client.query(`WITH s AS (INSERT INTO shop.stock VALUES (${id}, 0))
          INSERT INTO shop_ops."Odd name" VALUES (${id}, 'pair')`);
      }
    });
    try {
      const { tables } = await save();
      const rows = new Map(tables.map((table) => [table.name, table.rows]));
      expect((rows.get('stock') ?? 0) - 50_000).toBe((rows.get('Odd name') ?? 0) - 1);
    } finally {
      writing = false;
      await writer;
      await withClient(source.url, (client) =>
        client.query('DELETE FROM shop.stock WHERE id >= 100000; DELETE FROM shop_ops."Odd name" WHERE id >= 100000'),
      );
    }
  });
});

describe('isPartitionBound', () => {
  it('accepts what PostgreSQL writes', () => {
    for (const bound of [
      'DEFAULT',
      "FOR VALUES FROM ('2026-01-02 00:00:00+00') TO ('2026-01-03 00:00:00+00')",
      "FOR VALUES FROM (MINVALUE, 1) TO (-5, 'x')",
      "FOR VALUES IN ('a', 'b', NULL)",
      'FOR VALUES WITH (modulus 4, remainder 3)',
    ]) {
      expect(isPartitionBound(bound)).toBe(true);
    }
  });

  it('refuses everything that would be more than a bound in a statement', () => {
    for (const text of [
      '',
      'DEFAULT; DROP TABLE x',
      "FOR VALUES IN ('a''); DROP TABLE x; --')",
      "FOR VALUES IN ('\\')",
    ]) {
      expect(isPartitionBound(text)).toBe(false);
    }
  });
});

describe('parentsFirst', () => {
  it('puts referenced tables before those that refer to them, and stops at a cycle', () => {
    const tables = [{ oid: 1 }, { oid: 2 }, { oid: 3 }, { oid: 4 }];
    const chain = [
      { child: 1, parent: 3 },
      { child: 3, parent: 4 },
      { child: 2, parent: 1 },
      { child: 2, parent: 99 },
    ];
    expect(parentsFirst(tables, chain).map(({ oid }) => oid)).toEqual([4, 3, 1, 2]);
    const cycle = [...chain, { child: 4, parent: 1 }];
    expect(parentsFirst(tables, cycle)).toHaveLength(4);
  });
});
