import type { DashboardPage, DashboardSeriesPoint, PeriodDomain, PeriodNode, PeriodUser } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { hourOf } from '../traffic/accounting-batch.js';
import type { PageRequest } from './dashboard.dto.js';

const HOUR_MS = 3_600_000;
const HOURS = 24;
const MAX_DAYS = 92;
const TOO_LONG = `must be at most ${MAX_DAYS} days before the end`;

/** Hourly buckets, from that of `from` to the last one that starts at or before `to`. */
export interface Period {
  from: Date;
  to: Date;
}

/** The last 24 hourly buckets, including the current one. */
export function lastDay(now: number): Period {
  return { from: new Date(hourOf(now) - (HOURS - 1) * HOUR_MS), to: new Date(now) };
}

/** @throws AppError INVALID_ARGUMENT for a period that ends before it begins, or is longer than 92 days. */
export function periodOf({ from, to }: { from?: string; to?: string }, now: number): Period {
  const end = to === undefined ? now : Date.parse(to);
  const period = lastDay(end);
  if (from !== undefined) period.from = new Date(hourOf(Date.parse(from)));
  const length = end - period.from.getTime();
  const problem = length < 0 ? 'must not be after the end' : length > MAX_DAYS * 24 * HOUR_MS ? TOO_LONG : null;
  if (problem === null) return period;
  throw new AppError('INVALID_ARGUMENT', `from: ${problem}`, { details: [{ field: 'from', message: problem }] });
}

export interface HourlyBytes {
  hour: Date;
  up: number;
  down: number;
}

/** One point for each hour; hours without a row are zero. */
export function hourlySeries({ from, to }: Period, rows: readonly HourlyBytes[]): DashboardSeriesPoint[] {
  const known = new Map(rows.map((row) => [row.hour.getTime(), row]));
  const hours = Math.floor((to.getTime() - from.getTime()) / HOUR_MS) + 1;
  return Array.from({ length: hours }, (_, index) => {
    const hour = from.getTime() + index * HOUR_MS;
    return { t: new Date(hour).toISOString(), up: known.get(hour)?.up ?? 0, down: known.get(hour)?.down ?? 0 };
  });
}

type UserRow = Omit<PeriodUser, 'last_seen_at'> & { last_seen_at: Date };
type DomainRow = Omit<PeriodDomain, 'last_seen_at'> & { last_seen_at: Date };
export type PeriodNodeRow = Omit<PeriodNode, 'name' | 'country' | 'success_rate' | 'avg_delay_ms'> & { tag: string };

/** Reads the hourly buckets. */
@Injectable()
export class PeriodLists {
  constructor(private readonly dataSource: DataSource) {}

  async domains({ from, to }: Period, page: PageRequest): Promise<DashboardPage<PeriodDomain>> {
    const { items, total } = await this.page<DomainRow>(
      `SELECT domain, sum(requests)::bigint AS requests, sum(errors)::bigint AS errors, sum(upload)::bigint AS upload,
         sum(download)::bigint AS download, max(last_seen_at) AS last_seen_at
       FROM traffic_domain_hourly WHERE hour >= $1 AND hour <= $4 GROUP BY domain`,
      'domain',
      [from, page.limit, page.offset, to],
    );
    return { items: items.map((row) => ({ ...row, last_seen_at: row.last_seen_at.toISOString() })), total, ...page };
  }

  async nodes({ from, to }: Period, page: PageRequest): Promise<DashboardPage<PeriodNodeRow>> {
    const { items, total } = await this.page<PeriodNodeRow>(
      `SELECT outbound AS tag, max(node_id) AS node_id, sum(requests)::bigint AS requests, sum(errors)::bigint AS errors,
         sum(upload)::bigint AS upload, sum(download)::bigint AS download
       FROM traffic_node_hourly WHERE hour >= $1 AND hour <= $4 GROUP BY outbound`,
      'tag',
      [from, page.limit, page.offset, to],
    );
    return { items, total, ...page };
  }

  async users({ from, to }: Period, page: PageRequest): Promise<DashboardPage<PeriodUser>> {
    const { items, total } = await this.page<UserRow>(
      `SELECT username AS "user", sum(requests)::bigint AS requests, sum(errors)::bigint AS errors,
         sum(upload)::bigint AS upload, sum(download)::bigint AS download, max(last_seen_at) AS last_seen_at
       FROM traffic_user_hourly WHERE hour >= $1 AND hour <= $4 GROUP BY username`,
      '"user"',
      [from, page.limit, page.offset, to],
    );
    return { items: items.map((row) => ({ ...row, last_seen_at: row.last_seen_at.toISOString() })), total, ...page };
  }

  /** One point for each hour; hours without traffic are zero. */
  async series({ from, to }: Period): Promise<DashboardSeriesPoint[]> {
    const rows: HourlyBytes[] = await this.dataSource.query(
      `SELECT hour, sum(upload)::bigint AS up, sum(download)::bigint AS down
       FROM traffic_node_hourly WHERE hour >= $1 AND hour <= $2 GROUP BY hour`,
      [from, to],
    );
    return hourlySeries({ from, to }, rows);
  }

  /** Rows with the most bytes come first. The total is known even if the page is past the end. */
  private async page<T extends object>(
    sums: string,
    key: string,
    parameters: unknown[],
  ): Promise<{ items: T[]; total: number }> {
    const rows: (T & { list_total: number; on_page: boolean | null })[] = await this.dataSource.query(
      `WITH sums AS MATERIALIZED (${sums}),
         page AS (SELECT true AS on_page, * FROM sums ORDER BY upload + download DESC, requests DESC, ${key} LIMIT $2 OFFSET $3)
       SELECT counted.list_total, page.* FROM (SELECT count(*) AS list_total FROM sums) counted LEFT JOIN page ON true
       ORDER BY page.upload + page.download DESC, page.requests DESC, page.${key}`,
      parameters,
    );
    const items = rows
      .filter((row) => row.on_page === true)
      .map(({ list_total: _t, on_page: _p, ...row }) => row as unknown as T);
    return { items, total: rows[0]?.list_total ?? 0 };
  }
}
