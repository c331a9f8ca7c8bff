import type { RuntimeLogPage, RuntimeLogView } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { likePattern } from '../wire/like-pattern.js';
import type { RuntimeLogFilter, RuntimeLogQuery } from './runtime-log.dto.js';
import { toRuntimeLogView, weightOf } from './runtime-log-row.js';
import type { RuntimeLogRow } from './runtime-log-row.js';
import { RuntimeLogWriter } from './runtime-log-writer.js';

const MATCHES = `level >= $1 AND ($2::text IS NULL OR source = $2) AND ($3::text IS NULL OR request_id = $3)
  AND ($4::text IS NULL OR message ILIKE $4 OR context ILIKE $4)`;

const TAIL_ROWS = 500;
/** How many ids back to look for rows that other processes have committed since. */
const TAIL_OVERLAP = 100;

@Injectable()
export class RuntimeLogsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly writer: RuntimeLogWriter,
  ) {}

  /** Newest first, including the lines that this process has just logged. */
  async list(query: RuntimeLogQuery): Promise<RuntimeLogPage> {
    const { level, limit, offset, cursor } = query;
    if (level === 'silent') return { items: [], total: 0, limit, offset, next_cursor: null };
    await this.writer.flush();
    const filters = valuesOf(query);
    const [rows, [count]] = await Promise.all([
      this.dataSource.query<RuntimeLogRow[]>(
        `SELECT id, time, level, source, context, message, fields, request_id FROM runtime_logs
         WHERE ${MATCHES} AND ($5::bigint IS NULL OR id < $5) ORDER BY id DESC LIMIT $6 OFFSET $7`,
        [...filters, cursor ?? null, limit + 1, offset],
      ),
      this.dataSource.query<{ total: number }[]>(
        `SELECT count(*)::integer AS total FROM runtime_logs WHERE ${MATCHES}`,
        filters,
      ),
    ]);
    const items = rows.slice(0, limit).map(toRuntimeLogView);
    const next = rows.length > limit ? items.at(-1) : undefined;
    return { items, total: count?.total ?? 0, limit, offset, next_cursor: next ? String(next.id) : null };
  }

  /** The id of the newest line. */
  async lastId(): Promise<number> {
    await this.writer.flush();
    const [row] = await this.dataSource.query<{ id: number | null }[]>('SELECT max(id) AS id FROM runtime_logs');
    return row?.id ?? 0;
  }

  /** Returns a function that reads the lines written since its last call, oldest first. */
  tail(filter: RuntimeLogFilter, after: number): () => Promise<RuntimeLogView[]> {
    if (filter.level === 'silent') return () => Promise.resolve([]);
    const filters = valuesOf(filter);
    let last = after;
    let recent = new Set<number>();
    return async () => {
      await this.writer.flush();
      // Processes write at the same time, so a row may become visible after one with a higher id.
      const rows = await this.dataSource.query<RuntimeLogRow[]>(
        `SELECT id, time, level, source, context, message, fields, request_id FROM runtime_logs
         WHERE ${MATCHES} AND id > $5 ORDER BY id LIMIT ${TAIL_ROWS}`,
        [...filters, Math.max(after, last - TAIL_OVERLAP)],
      );
      const fresh = rows.filter(({ id }) => !recent.has(id));
      recent = new Set(rows.map(({ id }) => id));
      last = Math.max(last, ...recent);
      return fresh.map(toRuntimeLogView);
    };
  }
}

function valuesOf({ level, source, request_id, search }: RuntimeLogFilter): unknown[] {
  const least = level === 'silent' ? Number.MAX_SAFE_INTEGER : weightOf(level);
  return [least, source ?? null, request_id ?? null, search ? likePattern(search) : null];
}
