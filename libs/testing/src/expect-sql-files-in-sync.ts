import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { DataSource } from 'typeorm';

interface Definition {
  kind: 'FUNCTION' | 'TRIGGER';
  name: string;
  /** Of a trigger. */
  place: string | null;
  text: string;
}

const DEFINITIONS = `
  SELECT 'FUNCTION' AS kind, p.proname AS name, NULL AS place, pg_get_functiondef(p.oid) AS text FROM pg_proc p
    WHERE p.pronamespace = ANY ($1::regnamespace[]) AND p.prokind = 'f'
      AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
  UNION ALL
  SELECT 'TRIGGER', t.tgname, c.relname, pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE c.relnamespace = ANY ($1::regnamespace[]) AND NOT t.tgisinternal
  ORDER BY 1, 2, 3, 4`;

/**
 * Asserts that every function and trigger of the schemas is in one of the folder's SQL files, exactly as the migrated database
 * has it; except for those `elsewhere`, which are another folder's.
 */
export async function expectSqlFilesInSync(
  dataSource: DataSource,
  folder: URL,
  schemas: readonly string[],
  elsewhere: readonly string[] = [],
): Promise<void> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  const files = names.toSorted().map((name) => readFileSync(new URL(name, folder), 'utf8'));
  const definitions = (): Promise<Definition[]> => dataSource.query(DEFINITIONS, [schemas]);
  const migrated = await definitions();
  const missing = migrated.filter(({ kind, name, place }) => {
    const start = `CREATE (OR REPLACE |CONSTRAINT )*${kind} ([a-z_]+\\.)?${name}\\b`;
    const words = new RegExp(place === null ? start : `${start}[^;]*?\\sON ([a-z_]+\\.)?${place}\\s`);
    return files.filter((text) => words.test(text)).length !== 1;
  });
  expect(missing.map(({ kind, name, place }) => `${kind} ${name} ${place ?? ''}`)).toEqual(elsewhere);
  const runner = dataSource.createQueryRunner();
  try {
    await runner.startTransaction();
    for (const text of files) await runner.query(text);
    expect(await runner.query(DEFINITIONS, [schemas])).toEqual(migrated);
    await runner.rollbackTransaction();
  } finally {
    await runner.release();
  }
}
