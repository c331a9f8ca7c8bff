import { IsISO8601, IsOptional, Matches } from 'class-validator';
import { QueryInteger } from '../wire/query-integer.js';

const MAX_OFFSET = 1_000_000_000;

/** RFC 3339; a date alone would leave open which time zone is meant. */
const INSTANT = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d(:\d\d(\.\d{1,9})?)?([Zz]|[+-]\d\d:\d\d)$/;

/** Pages of the four lists. */
export class DashboardQuery {
  @QueryInteger({ min: 1, max: 500 })
  live_domain_limit = 50;

  @QueryInteger({ min: 1, max: 500 })
  live_node_limit = 50;

  @QueryInteger({ min: 1, max: 500 })
  period_domain_limit = 50;

  @QueryInteger({ min: 1, max: 500 })
  period_node_limit = 50;

  @QueryInteger({ min: 0, max: MAX_OFFSET })
  live_domain_offset = 0;

  @QueryInteger({ min: 0, max: MAX_OFFSET })
  live_node_offset = 0;

  @QueryInteger({ min: 0, max: MAX_OFFSET })
  period_domain_offset = 0;

  @QueryInteger({ min: 0, max: MAX_OFFSET })
  period_node_offset = 0;

  /** Begin of the period, taken down to the full hour. Absent: 24 hour buckets before the end. */
  @IsOptional()
  @IsISO8601({ strict: true })
  @Matches(INSTANT, { message: 'from must be a time such as 2026-05-01T00:00:00Z' })
  from?: string;

  /** End of the period. Absent: now. */
  @IsOptional()
  @IsISO8601({ strict: true })
  @Matches(INSTANT, { message: 'to must be a time such as 2026-05-01T00:00:00Z' })
  to?: string;
}

export interface PageRequest {
  limit: number;
  offset: number;
}

export type DashboardList = 'live_domain' | 'live_node' | 'period_domain' | 'period_node';

export function pageOf(query: DashboardQuery, list: DashboardList): PageRequest {
  return { limit: query[`${list}_limit`], offset: query[`${list}_offset`] };
}
