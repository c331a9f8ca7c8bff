import type { DashboardPage } from '@gatehouse/contracts';

const LISTS = ['live_domain', 'live_node', 'live_user', 'period_domain', 'period_node', 'period_user'] as const;
export type List = (typeof LISTS)[number];

/** The parameters that say which part of the lists to show. */
export type PageSizes = Record<`${List}_${'limit' | 'offset'}`, number>;

const ROWS = 8;

export const FIRST_PAGES: PageSizes = {
  live_domain_limit: ROWS,
  live_domain_offset: 0,
  live_node_limit: ROWS,
  live_node_offset: 0,
  live_user_limit: ROWS,
  live_user_offset: 0,
  period_domain_limit: ROWS,
  period_domain_offset: 0,
  period_node_limit: ROWS,
  period_node_offset: 0,
  period_user_limit: ROWS,
  period_user_offset: 0,
};

export type Turn = (changes: Partial<PageSizes>) => void;

export interface ListProps<T> {
  page: DashboardPage<T>;
  turn: Turn;
}
