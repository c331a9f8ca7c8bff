import type { TrafficLogListResponse } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { COUNT_LIMIT, KeywordSearch, searchedText, SearchTimeoutError } from './keyword-search.js';
import type { RowKey } from './keyword-search.js';
import { likePattern } from '../wire/like-pattern.js';
import type { TrafficLogQuery } from './traffic-log.dto.js';
import { cursorOf, parseCursor, toTrafficLogView, TRAFFIC_LOG_COLUMNS } from './traffic-log.view.js';
import type { TrafficLogRow } from './traffic-log.view.js';

const SEARCH_TIMEOUT_MS = 10_000;
/** SQLSTATE of a statement that exceeded its time limit. */
const QUERY_CANCELED = '57014';

/** The keys of a page, one more than requested if there is another page, and the number of all matching rows. */
interface FoundPage {
  keys: RowKey[];
  total: number;
  total_exact: boolean;
}

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
      if (!(error instanceof SearchTimeoutError) && !isCanceled(error)) throw error;
      throw new AppError('SERVICE_UNAVAILABLE', 'The search took too long; use a longer keyword', { cause: error });
    }
  }

  private async read(tx: EntityManager, query: TrafficLogQuery): Promise<TrafficLogListResponse> {
    // Every statement has a LIMIT and an index. Expecting few matches, the planner would rather sort all of them.
    await tx.query(
      `SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL statement_timeout = ${SEARCH_TIMEOUT_MS};
       SET LOCAL enable_sort = off; SET LOCAL enable_seqscan = off`,
    );
    const text = searchedText(query.keyword);
    const { keys, total, total_exact } = text === null ? await newest(tx, query) : await matching(tx, query, text);
    const rows = await readRows(tx, keys.slice(0, query.limit));
    const last = rows.at(-1);
    return {
      items: rows.map(toTrafficLogView),
      total,
      total_exact,
      limit: query.limit,
      offset: query.offset,
      next_cursor: keys.length > query.limit && last !== undefined ? cursorOf(last) : null,
    };
  }
}

async function newest(tx: EntityManager, query: TrafficLogQuery): Promise<FoundPage> {
  const days: { end: Date; rows: number }[] = await tx.query(
    `SELECT (day + 1)::timestamp AT TIME ZONE 'UTC' AS "end", row_count AS rows FROM traffic_log_days ORDER BY day DESC`,
  );
  const total = days.reduce((sum, day) => sum + day.rows, 0);
  // Whole days are skipped by their counts instead of row by row.
  let { offset } = query;
  const start = days.findIndex((day) => offset < day.rows || ((offset -= day.rows), false));
  const end = days[start]?.end;
  if (end === undefined) return { keys: [], total, total_exact: true };
  const before =
    query.cursor === undefined ? (start === 0 ? null : { endedAt: end.getTime(), id: 0 }) : parseCursor(query.cursor);
  const keys = await readKeys(tx, { pattern: null, before, offset, count: query.limit + 1 });
  return { keys, total, total_exact: true };
}

async function matching(tx: EntityManager, query: TrafficLogQuery, text: string): Promise<FoundPage> {
  const { limit, offset } = query;
  const before = query.cursor === undefined ? null : parseCursor(query.cursor);
  const search = new KeywordSearch(tx, text, SEARCH_TIMEOUT_MS);
  const keys =
    offset > COUNT_LIMIT
      ? await readKeys(tx, { pattern: likePattern(text), before, offset, count: limit + 1 })
      : (await search.find(before, offset + limit + 1)).slice(offset);
  // A page that is not full gives the total without a count.
  const atTheEnd = before === null && keys.length <= limit && (keys.length > 0 || offset === 0);
  if (atTheEnd) return { keys, total: offset + keys.length, total_exact: true };
  const counted = await search.count();
  const seen = keys.length === 0 || before !== null ? 0 : offset + keys.length;
  return { keys, total: counted.all ? counted.rows : Math.max(counted.rows, seen), total_exact: counted.all };
}

interface KeyQuery {
  pattern: string | null;
  before: RowKey | null;
  offset: number;
  count: number;
}

function readKeys(tx: EntityManager, { pattern, before, offset, count }: KeyQuery): Promise<RowKey[]> {
  const conditions: string[] = [];
  const parameters: unknown[] = [count, offset];
  if (pattern !== null) conditions.push(`search_text LIKE $${parameters.push(pattern)}`);
  if (before !== null) {
    // In addition to the row comparison, so that whole partitions can be skipped.
    const at = `$${parameters.push(new Date(before.endedAt))}::timestamptz`;
    conditions.push(`ended_at <= ${at} AND (ended_at, id) < (${at}, $${parameters.push(before.id)}::bigint)`);
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  return tx
    .query<{ ended_at: Date; id: number }[]>(
      `SELECT ended_at, id FROM traffic_logs ${where} ORDER BY ended_at DESC, id DESC LIMIT $1 OFFSET $2`,
      parameters,
    )
    .then((rows) => rows.map((row) => ({ endedAt: row.ended_at.getTime(), id: row.id })));
}

async function readRows(tx: EntityManager, keys: readonly RowKey[]): Promise<TrafficLogRow[]> {
  if (keys.length === 0) return [];
  return tx.query(
    `SELECT ${TRAFFIC_LOG_COLUMNS.join(', ')} FROM traffic_logs
     WHERE ended_at = ANY($1::timestamptz[]) AND id = ANY($2::bigint[]) ORDER BY ended_at DESC, id DESC`,
    [keys.map((key) => new Date(key.endedAt)), keys.map((key) => key.id)],
  );
}

function isCanceled(error: unknown): boolean {
  const driverError = error instanceof Error && 'driverError' in error ? error.driverError : null;
  return driverError instanceof Error && 'code' in driverError && driverError.code === QUERY_CANCELED;
}
