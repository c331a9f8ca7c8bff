import type { TrafficLogListResponse } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { TrafficLogQuery } from './traffic-log.dto.js';
import { cursorOf, parseCursor, toTrafficLogView, TRAFFIC_LOG_COLUMNS } from './traffic-log.view.js';
import type { TrafficLogRow } from './traffic-log.view.js';

/** A keyword's matches are counted no further: beyond it nobody pages by number. */
export const COUNT_LIMIT = 10_000;
const SEARCH_TIMEOUT_MS = 10_000;
/** SQLSTATE of a statement cut by its time limit. */
const QUERY_CANCELED = '57014';

@Injectable()
export class TrafficLogsService {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** @throws AppError SERVICE_UNAVAILABLE when a search takes too long. */
  async list(query: TrafficLogQuery): Promise<TrafficLogListResponse> {
    if (query.cursor !== undefined && query.offset > 0) {
      throw new AppError('INVALID_ARGUMENT', 'offset and cursor exclude each other', {
        details: [{ field: 'offset', message: 'must be 0 when cursor is given' }],
      });
    }
    try {
      return await this.unitOfWork.run((tx) => this.read(tx, query));
    } catch (error) {
      if (!isCanceled(error)) throw error;
      throw new AppError('SERVICE_UNAVAILABLE', 'The search took too long; use a longer keyword', { cause: error });
    }
  }

  private async read(tx: EntityManager, query: TrafficLogQuery): Promise<TrafficLogListResponse> {
    // Walking back from the newest row ends with the page; sorting all matches, which the planner prefers when it
    // expects few, reads every row there is.
    await tx.query(`SET LOCAL statement_timeout = ${SEARCH_TIMEOUT_MS}; SET LOCAL enable_sort = off`);
    const pattern = likePattern(query.keyword);
    const rows = await readRows(tx, query, pattern);
    const page = rows.slice(0, query.limit);
    const last = page.at(-1);
    return {
      items: page.map(toTrafficLogView),
      ...(await count(tx, pattern, knownTotal(query, rows.length))),
      limit: query.limit,
      offset: query.offset,
      next_cursor: rows.length > query.limit && last !== undefined ? cursorOf(last) : null,
    };
  }
}

/** Newest first, one row more than asked for, to tell whether there is another page. */
function readRows(tx: EntityManager, query: TrafficLogQuery, pattern: string | null): Promise<TrafficLogRow[]> {
  const conditions: string[] = [];
  const parameters: unknown[] = [query.limit + 1, query.offset];
  if (pattern !== null) conditions.push(`search_text LIKE $${parameters.push(pattern)}`);
  if (query.cursor !== undefined) {
    const { endedAt, id } = parseCursor(query.cursor);
    // Written out besides the row comparison, so that whole partitions are left aside.
    const at = `$${parameters.push(endedAt)}::timestamptz`;
    conditions.push(`ended_at <= ${at} AND (ended_at, id) < (${at}, $${parameters.push(id)}::bigint)`);
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  return tx.query(
    `SELECT ${TRAFFIC_LOG_COLUMNS.join(', ')} FROM traffic_logs ${where}
     ORDER BY ended_at DESC, id DESC LIMIT $1 OFFSET $2`,
    parameters,
  );
}

/** A page that is not full tells the total by itself. */
function knownTotal({ limit, offset, cursor }: TrafficLogQuery, found: number): number | null {
  const reachesTheEnd = cursor === undefined && found <= limit && (found > 0 || offset === 0);
  return reachesTheEnd ? offset + found : null;
}

/**
 * Cheap for any size: without a keyword the writer's own count of each day is added up; with one, counting stops at
 * COUNT_LIMIT matches.
 */
async function count(
  tx: EntityManager,
  pattern: string | null,
  known: number | null,
): Promise<{ total: number; total_exact: boolean }> {
  if (known !== null) return { total: known, total_exact: true };
  const [row]: { total: number }[] =
    pattern === null
      ? await tx.query('SELECT coalesce(sum(row_count), 0)::bigint AS total FROM traffic_log_days')
      : await tx.query(
          `SELECT count(*) AS total
           FROM (SELECT 1 FROM traffic_logs WHERE search_text LIKE $1 LIMIT ${COUNT_LIMIT + 1}) matches`,
          [pattern],
        );
  const total = row?.total ?? 0;
  if (pattern === null) return { total, total_exact: true };
  return { total: Math.min(total, COUNT_LIMIT), total_exact: total <= COUNT_LIMIT };
}

/** Null when there is nothing to look for. `%` and `_` stand for themselves. */
export function likePattern(keyword: string | undefined): string | null {
  const text = (keyword ?? '').trim().toLowerCase();
  return text === '' ? null : `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

function isCanceled(error: unknown): boolean {
  const driverError = error instanceof Error && 'driverError' in error ? error.driverError : null;
  return driverError instanceof Error && 'code' in driverError && driverError.code === QUERY_CANCELED;
}
