import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { to as copyTo } from 'pg-copy-streams';
import { quoteIdentifier } from '../data-source.js';
import { withClient, type PgClient } from '../pg-client.js';
import { BACKUP_FORMAT, BACKUP_VERSION, BackupError, type BackupHeader, type BackupTable } from './backup-header.js';
import {
  BACKUP_SCHEMAS,
  fixTextFormat,
  LOG_TABLES,
  qualified,
  readPartitions,
  readSchemas,
  readSequences,
  readTables,
  type TableShape,
} from './catalogue.js';
import type { ProgressHandler } from './check-file.js';
import { keyFingerprint } from './key-fingerprint.js';
import { MeasuredStream } from './measured-stream.js';

export interface BackupOptions {
  /** Schemas to save, if they exist; default: those of all services. */
  schemas?: readonly string[];
  /** Secret keys with which values may be sealed: a restore needs the same ones. */
  keys?: readonly Buffer[];
  /** Leaves out the lines of traffic and runtime logs. */
  withoutLogs?: boolean;
  /** Saves what this exported snapshot of another transaction sees (`pg_export_snapshot()`). */
  snapshot?: string;
  onProgress?: ProgressHandler;
}

/**
 * Writes the services' data of one moment to one file (mode 0600); services can keep running. The file appears only
 * when it is complete. Returns its header.
 * @throws BackupError
 */
export async function backupDatabase(url: string, file: string, options: BackupOptions = {}): Promise<BackupHeader> {
  const draft = `${file}.${randomBytes(4).toString('hex')}`;
  const body = `${draft}.body`;
  try {
    // Created first, so that a folder that is not writable is noticed before anything is read.
    await (await open(body, 'wx', 0o600)).close();
    const header = await withClient(url, (client) => copyOut(client, body, options));
    await assemble(draft, header, body);
    await rename(draft, file);
    return header;
  } finally {
    await Promise.all([rm(draft, { force: true }), rm(body, { force: true })]);
  }
}

/** The header contains counts of the body and comes before it, so the body is first written to a separate file. */
async function copyOut(client: PgClient, body: string, options: BackupOptions): Promise<BackupHeader> {
  const wanted = options.schemas ?? BACKUP_SCHEMAS;
  await beginSnapshot(client, wanted, options.snapshot);
  const schemas = await readSchemas(client, wanted);
  if (schemas.length === 0) {
    throw new BackupError(
      `The database has none of the schemas ${wanted.join(', ')}.`,
      `数据库中没有以下任何 schema：${wanted.join('、')}。`,
    );
  }
  const names = schemas.map(({ name }) => name);
  const sequences = await readSequences(client, names);
  const isLeftOut = (schema: string, name: string): boolean =>
    options.withoutLogs === true && LOG_TABLES.includes(`${schema}.${name}`);
  const all = await readTables(client, names);
  const partitions = await readPartitions(client, names);
  const tables: BackupTable[] = [];
  for (const table of all) {
    if (!isLeftOut(table.schema, table.name)) tables.push(await copyTable(client, table, body, options.onProgress));
  }
  await client.query('COMMIT');
  return {
    format: BACKUP_FORMAT,
    version: BACKUP_VERSION,
    createdAt: new Date().toISOString(),
    schemas,
    tables,
    partitions: partitions.filter(({ schema, parent }) => !isLeftOut(schema, parent)),
    sequences,
    keys: (options.keys ?? []).map(keyFingerprint),
    leftOut: all.filter(({ schema, name }) => isLeftOut(schema, name)).map(({ schema, name }) => `${schema}.${name}`),
  };
}

/**
 * Locks the tables before it reads them: otherwise a day of a log that is dropped in between would be missing from a
 * backup that claims to be of one moment. The lock only blocks changes of tables, neither reads nor writes.
 */
async function beginSnapshot(client: PgClient, wanted: readonly string[], snapshot?: string): Promise<void> {
  const tables = await readTables(client, wanted);
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  if (snapshot !== undefined) {
    await client.query(`SET TRANSACTION SNAPSHOT ${client.escapeLiteral(snapshot)}`);
  }
  await fixTextFormat(client);
  await client.query("SET LOCAL lock_timeout = '60s'");
  if (tables.length > 0) await client.query(`LOCK TABLE ${tables.map(qualified).join(', ')} IN ACCESS SHARE MODE`);
}

async function copyTable(
  client: PgClient,
  table: TableShape,
  body: string,
  onProgress: ProgressHandler = () => undefined,
): Promise<BackupTable> {
  const columns = table.columns.map(quoteIdentifier).join(', ');
  const rows = client.query(copyTo(`COPY (SELECT ${columns} FROM ${qualified(table)}) TO STDOUT`));
  const name = `${table.schema}.${table.name}`;
  const measured = new MeasuredStream((soFar) => onProgress({ stage: 'saving', table: name, rows: soFar }));
  // Members of a gzip file can simply follow each other (RFC 1952 2.2).
  await pipeline(rows, measured, createGzip({ level: 6 }), createWriteStream(body, { flags: 'a' }));
  const { measure } = measured;
  return { ...table, rows: measure.rows, bytes: measure.bytes, sha256: measure.digest() };
}

async function assemble(draft: string, header: BackupHeader, body: string): Promise<void> {
  const target = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true });
  target.write(gzipSync(`${JSON.stringify(header)}\n`));
  await pipeline(createReadStream(body), target);
}
