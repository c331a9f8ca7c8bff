import { randomUUID } from 'node:crypto';
import type { GeoDatabaseName } from '@gatehouse/contracts';
import { notify, UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';
import type { GeoFacts } from './geo-sources.js';

/** Notified when the content of a database has changed. */
export const GEO_CHANNEL = 'proxy_gateway_geo';

export interface GeoRow {
  name: GeoDatabaseName;
  format: 'mmdb' | 'dat' | null;
  database_type: string | null;
  build_time: Date | null;
  entries: number | null;
  size_bytes: number | null;
  sha256: string | null;
  source_url: string | null;
  etag: string | null;
  last_modified: string | null;
  updated_at: Date | null;
  checked_at: Date | null;
  error: string | null;
}

export interface GeoContent {
  content: Buffer;
  sha256: string;
  facts: GeoFacts;
}

/** Where a file came from: the URL and the validators of the server. */
export interface GeoOrigin {
  url: string;
  etag: string | null;
  lastModified: string | null;
}

const COLUMNS =
  'name, format, database_type, build_time, entries, size_bytes, sha256, source_url, etag, last_modified, updated_at, checked_at, error';
/** A run that has taken this long is assumed to have died with its process. */
const ABANDONED = `interval '30 minutes'`;

@Injectable()
export class GeoStore {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** All columns except the contents. */
  async rows(): Promise<Map<GeoDatabaseName, GeoRow>> {
    const rows: GeoRow[] = await this.dataSource.query(`SELECT ${COLUMNS} FROM geo_databases`);
    return new Map(rows.map((row) => [row.name, row]));
  }

  async content(name: GeoDatabaseName): Promise<Buffer | null> {
    const [row]: { content: Buffer | null }[] = await this.dataSource.query(
      'SELECT content FROM geo_databases WHERE name = $1',
      [name],
    );
    return row?.content ?? null;
  }

  /** Stores new content with all of its columns and notifies every process. */
  async replace(name: GeoDatabaseName, { content, sha256, facts }: GeoContent, origin: GeoOrigin): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      await tx.query(
        `INSERT INTO geo_databases (name, content, format, database_type, build_time, entries, size_bytes, sha256,
           source_url, etag, last_modified, updated_at, checked_at, error)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, now(), now(), NULL)
         ON CONFLICT (name) DO UPDATE SET content = excluded.content, format = excluded.format,
           database_type = excluded.database_type, build_time = excluded.build_time, entries = excluded.entries,
           size_bytes = excluded.size_bytes, sha256 = excluded.sha256, source_url = excluded.source_url,
           etag = excluded.etag, last_modified = excluded.last_modified, updated_at = now(), checked_at = now(), error = NULL`,
        [
          name,
          content,
          facts.format,
          facts.databaseType,
          facts.buildTime,
          facts.entries,
          content.length,
          sha256,
          origin.url,
          origin.etag,
          origin.lastModified,
        ],
      );
      await notify(tx, GEO_CHANNEL, name);
      // Lists of sites are part of the kernel's configuration.
      if (name === 'geosite') await notify(tx, KERNEL_CONFIG_CHANNEL, '');
    });
  }

  /** Stores that the server has nothing newer. */
  async confirm(name: GeoDatabaseName, origin: GeoOrigin): Promise<void> {
    await this.dataSource.query(
      `UPDATE geo_databases SET checked_at = now(), error = NULL, source_url = $2, etag = coalesce($3, etag),
         last_modified = coalesce($4, last_modified) WHERE name = $1`,
      [name, origin.url, origin.etag, origin.lastModified],
    );
  }

  /** Stores the error; the previous content stays. */
  async fail(name: GeoDatabaseName, error: string): Promise<void> {
    await this.dataSource.query(
      'INSERT INTO geo_databases (name, error) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET error = excluded.error',
      [name, error],
    );
  }

  /**
   * Claims the right to update, which one process at a time has. Returns null while another one holds it; pass the id
   * to `release`.
   */
  async claim(): Promise<string | null> {
    const id = randomUUID();
    const [claimed]: [unknown[], number] = await this.dataSource.query(
      `UPDATE geo_updates SET run_id = $1, running_since = now()
       WHERE id = 1 AND (running_since IS NULL OR running_since < now() - ${ABANDONED}) RETURNING id`,
      [id],
    );
    return claimed.length > 0 ? id : null;
  }

  async release(id: string): Promise<void> {
    await this.dataSource.query(
      'UPDATE geo_updates SET run_id = NULL, running_since = NULL, last_run_at = now() WHERE run_id = $1',
      [id],
    );
  }

  async state(): Promise<{ running: boolean; lastRunAt: Date | null }> {
    const [row]: { running: boolean; last_run_at: Date | null }[] = await this.dataSource.query(
      `SELECT coalesce(running_since > now() - ${ABANDONED}, false) AS running, last_run_at FROM geo_updates WHERE id = 1`,
    );
    return { running: row?.running ?? false, lastRunAt: row?.last_run_at ?? null };
  }
}
