import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip, gzipSync } from 'node:zlib';
import { to as copyTo } from 'pg-copy-streams';
import { quoteIdentifier } from '../data-source.js';
import { withClient, type PgClient } from '../pg-client.js';
import { BACKUP_FORMAT, BACKUP_VERSION, BackupError, type BackupHeader, type BackupTable } from './backup-file.js';
import {
  BACKUP_SCHEMAS,
  fixTextFormat,
  qualified,
  readSchemas,
  readSequences,
  readTables,
  type TableShape,
} from './catalogue.js';
import { MeasuredStream } from './measured-stream.js';

export interface BackupOptions {
  /** Schemas to save, those that exist; default: all services'. */
  schemas?: readonly string[];
}

/**
 * Writes the services' data, as of one moment, to one file (mode 0600); services may go on running. The file appears
 * only when it is complete. Returns its header.
 */
export async function backupDatabase(url: string, file: string, options: BackupOptions = {}): Promise<BackupHeader> {
  const draft = `${file}.${randomBytes(4).toString('hex')}`;
  const body = `${draft}.body`;
  try {
    const header = await withClient(url, (client) => copyOut(client, body, options.schemas ?? BACKUP_SCHEMAS));
    await assemble(draft, header, body);
    await rename(draft, file);
    return header;
  } finally {
    await Promise.all([rm(draft, { force: true }), rm(body, { force: true })]);
  }
}

/** The header counts what the body holds and stands before it, so the body waits in a file of its own. */
async function copyOut(client: PgClient, body: string, wanted: readonly string[]): Promise<BackupHeader> {
  await fixTextFormat(client);
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  const schemas = await readSchemas(client, wanted);
  if (schemas.length === 0) throw new BackupError(`The database has none of the schemas ${wanted.join(', ')}.`);
  const names = schemas.map(({ name }) => name);
  const sequences = await readSequences(client, names);
  await (await open(body, 'wx', 0o600)).close();
  const tables: BackupTable[] = [];
  for (const table of await readTables(client, names)) tables.push(await copyTable(client, table, body));
  await client.query('COMMIT');
  const createdAt = new Date().toISOString();
  return { format: BACKUP_FORMAT, version: BACKUP_VERSION, createdAt, schemas, tables, sequences };
}

async function copyTable(client: PgClient, table: TableShape, body: string): Promise<BackupTable> {
  const columns = table.columns.map(quoteIdentifier).join(', ');
  const rows = client.query(copyTo(`COPY (SELECT ${columns} FROM ${qualified(table)}) TO STDOUT`));
  const measured = new MeasuredStream();
  // Members of a gzip file may simply follow each other (RFC 1952 2.2).
  await pipeline(rows, measured, createGzip({ level: 6 }), createWriteStream(body, { flags: 'a' }));
  return { ...table, rows: measured.rows, bytes: measured.bytes, sha256: measured.digest() };
}

async function assemble(draft: string, header: BackupHeader, body: string): Promise<void> {
  const target = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true });
  target.write(gzipSync(`${JSON.stringify(header)}\n`));
  await pipeline(createReadStream(body), target);
}
