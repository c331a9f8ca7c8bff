import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { quoteIdentifier } from '../data-source.js';
import type { PgConnection } from '../pg-client.js';
import type { BackupReader } from './backup-file.js';
import { BackupError, type BackupHeader, type BackupPartition, type BackupTable } from './backup-header.js';
import { qualified, readPartitions, readTables } from './catalogue.js';
import type { ProgressHandler } from './check-file.js';
import { MeasuredStream } from './measured-stream.js';

/** Creates the missing partitions of a backup. */
export async function createPartitions(client: PgConnection, header: BackupHeader): Promise<void> {
  const key = ({ schema, name }: BackupPartition): string => qualified({ schema, name });
  const names = header.schemas.map(({ name }) => name);
  const present = new Set((await readPartitions(client, names)).map(key));
  for (const partition of header.partitions.filter((wanted) => !present.has(key(wanted)))) {
    const parent = qualified({ schema: partition.schema, name: partition.parent });
    await client.query(`CREATE TABLE ${key(partition)} PARTITION OF ${parent} ${partition.bound}`);
  }
}

/** @throws BackupError unless the schemas have a place for everything in the backup. */
export async function checkTables(client: PgConnection, header: BackupHeader): Promise<void> {
  const names = header.schemas.map(({ name }) => name);
  const here = new Map((await readTables(client, names)).map((table) => [qualified(table), table]));
  for (const table of header.tables) {
    const columns = here.get(qualified(table))?.columns ?? [];
    const missing = table.columns.filter((column) => !columns.includes(column));
    if (missing.length > 0) {
      throw new BackupError(
        `The table ${qualified(table)} of the backup does not fit: no column ${missing.join(', ')}.`,
        `备份中的表 ${qualified(table)} 与当前结构不符：没有列 ${missing.join('、')}。`,
      );
    }
  }
}

/**
 * Removes triggers and references from the tables while `load` runs, and restores them: the rows of one moment are
 * consistent, and all references are checked when they are restored. The owner of the tables can do that without being
 * a superuser.
 */
export async function withoutTriggers<T>(
  client: PgConnection,
  schemas: readonly string[],
  load: () => Promise<T>,
): Promise<T> {
  const triggers = await readTriggers(client, schemas);
  const references = await readReferences(client, schemas);
  for (const { table, name } of triggers) {
    await client.query(`ALTER TABLE ${table} DISABLE TRIGGER ${quoteIdentifier(name)}`);
  }
  for (const { table, name } of references) {
    await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${quoteIdentifier(name)}`);
  }
  const result = await load();
  for (const { table, name, mode } of triggers) {
    await client.query(`ALTER TABLE ${table} ENABLE ${mode} TRIGGER ${quoteIdentifier(name)}`);
  }
  for (const { table, name, definition } of references) {
    try {
      await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${quoteIdentifier(name)} ${definition}`);
    } catch (cause) {
      if ((cause as { code?: string }).code !== '23503') throw cause;
      throw new BackupError(
        `The backup is damaged: rows of ${table} refer to rows that it does not have.`,
        `备份已损坏：${table} 中的数据引用了备份里没有的行。`,
        { cause },
      );
    }
  }
  return result;
}

async function readTriggers(client: PgConnection, schemas: readonly string[]) {
  const { rows } = await client.query<{ table: string; name: string; mode: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS table, t.tgname AS name,
            CASE t.tgenabled WHEN 'A' THEN 'ALWAYS' WHEN 'R' THEN 'REPLICA' ELSE '' END AS mode
       FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ANY($1) AND NOT t.tgisinternal AND t.tgparentid = 0 AND t.tgenabled <> 'D'
      ORDER BY 1, 2`,
    [schemas],
  );
  return rows;
}

async function readReferences(client: PgConnection, schemas: readonly string[]) {
  // Without a search path, every name in a definition is written with its schema.
  await client.query(`SET LOCAL search_path = ''`);
  const { rows } = await client.query<{ table: string; name: string; definition: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS table, k.conname AS name,
            pg_get_constraintdef(k.oid) AS definition
       FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname = ANY($1) AND k.contype = 'f' AND k.conparentid = 0
      ORDER BY 1, 2`,
    [schemas],
  );
  return rows;
}

/** Loads the rows of one table. @throws BackupError if they differ from the saved ones, or do not fit. */
export async function loadTable(
  client: PgConnection,
  reader: BackupReader,
  table: BackupTable,
  onProgress: ProgressHandler = () => undefined,
): Promise<void> {
  const columns = table.columns.map(quoteIdentifier).join(', ');
  const sink = client.query(copyFrom(`COPY ${qualified(table)} (${columns}) FROM STDIN`));
  const name = `${table.schema}.${table.name}`;
  const measured = new MeasuredStream((rows) =>
    onProgress({ stage: 'loading', table: name, rows, totalRows: table.rows }),
  );
  try {
    await pipeline(Readable.from(reader.take(table.bytes), { objectMode: false }), measured, sink);
  } catch (cause) {
    if (cause instanceof BackupError) throw cause;
    const { code, message } = cause as Error & { code?: string };
    throw new BackupError(
      `The rows of ${name} could not be loaded: ${code === undefined ? message : `error ${code}`}.`,
      `无法载入 ${name} 的数据：${code === undefined ? message : `错误 ${code}`}。`,
      { cause },
    );
  }
  measured.measure.requireSameAs(table);
}

export async function setSequences(client: PgConnection, header: BackupHeader): Promise<void> {
  for (const { schema, name, value, called } of header.sequences) {
    await client.query('SELECT setval($1::regclass, $2::bigint, $3)', [qualified({ schema, name }), value, called]);
  }
}
