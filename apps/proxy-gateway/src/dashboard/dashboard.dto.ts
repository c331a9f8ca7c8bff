import { IsOptional } from 'class-validator';
import { IsInstant } from '../wire/instant.js';
import { QueryInteger } from '../wire/query-integer.js';

const MAX_OFFSET = 1_000_000_000;

/** The pages of the lists. */
export class DashboardQuery {
  @QueryInteger({ min: 1, max: 500 })
  live_domain_limit = 50;

  @QueryInteger({ min: 1, max: 500 })
  live_node_limit = 50;

  @QueryInteger({ min: 1, max: 500 })
  period_domain_limit = 50;

  @QueryInteger({ min: 1, max: 500 })
  period_node_limit = 50;

  @QueryInteger({ min: 1, max: 500 })
  live_user_limit = 50;

  @QueryInteger({ min: 1, max: 500 })
  period_user_limit = 50;

  @QueryInteger({ min: 0, max: MAX_OFFSET })
  live_domain_offset = 0;

  @QueryInteger({ min: 0, max: MAX_OFFSET })
  live_node_offset = 0;

  @QueryInteger({ min: 0, max: MAX_OFFSET })
  period_domain_offset = 0;

  @QueryInteger({ min: 0, max: MAX_OFFSET })
  period_node_offset = 0;

  @QueryInteger({ min: 0, max: MAX_OFFSET })
  live_user_offset = 0;

  @QueryInteger({ min: 0, max: MAX_OFFSET })
  period_user_offset = 0;

  /** Start of the period, rounded down to the full hour. Absent: 24 hourly buckets before the end. */
  @IsOptional()
  @IsInstant()
  from?: string;

  /** End of the period. Absent: now. */
  @IsOptional()
  @IsInstant()
  to?: string;
}

export interface PageRequest {
  limit: number;
  offset: number;
}

export type DashboardList = 'live_domain' | 'live_node' | 'live_user' | 'period_domain' | 'period_node' | 'period_user';

export function pageOf(query: DashboardQuery, list: DashboardList): PageRequest {
  return { limit: query[`${list}_limit`], offset: query[`${list}_offset`] };
}
