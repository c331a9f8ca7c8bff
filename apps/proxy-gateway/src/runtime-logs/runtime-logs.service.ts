import type { RuntimeLogPage } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { RuntimeLogQuery } from './runtime-log.dto.js';
import { toRuntimeLogView, weightOf } from './runtime-log-row.js';
import type { RuntimeLogRow } from './runtime-log-row.js';
import { RuntimeLogWriter } from './runtime-log-writer.js';

const MATCHES = `level >= $1 AND ($2::text IS NULL OR source = $2) AND ($3::text IS NULL OR request_id = $3)
  AND ($4::text IS NULL OR message ILIKE $4 OR context ILIKE $4)`;

@Injectable()
export class RuntimeLogsService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly writer: RuntimeLogWriter,
  ) {}

  /** Newest first; what this process said a moment ago included. */
  async list({ level, source, search, request_id, limit, offset, cursor }: RuntimeLogQuery): Promise<RuntimeLogPage> {
    if (level === 'silent') return { items: [], total: 0, limit, offset, next_cursor: null };
    await this.writer.flush();
    const filters = [weightOf(level), source ?? null, request_id ?? null, search ? containing(search) : null];
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
}

function containing(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`;
}
