import { AppError } from '@gatehouse/platform';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import { daysBetween, shiftDate } from '../quota/service-days.js';
import type { DayUsage, EndpointUsage, Usage, UsageRange, UsageTotals } from './usage-reader.js';

const DEFAULT_DAYS = 30;
const MAX_DAYS = 366;
const DATE = { type: String, format: 'date', example: '2026-11-21' } as const;
const CALLS = { type: 'integer', minimum: 0 } as const;
const MILLISECONDS = { type: 'number', minimum: 0, description: 'Milliseconds' } as const;

export class UsageQuery {
  @ApiPropertyOptional(DATE)
  @IsOptional()
  @Matches(/^\d{4}-\d{2}-\d{2}$/, { message: 'must be a date such as 2026-11-21' })
  start_date?: string;

  @ApiPropertyOptional(DATE)
  @IsOptional()
  @Matches(/^\d{4}-\d{2}-\d{2}$/, { message: 'must be a date such as 2026-11-21' })
  end_date?: string;
}

/**
 * Without dates, the last 30 days.
 * @throws INVALID_ARGUMENT for an invalid date, an end before its start, or more than 366 days.
 */
export function rangeOf({ start_date: start, end_date: end }: UsageQuery, today: string): UsageRange {
  const last = validDate('end_date', end ?? lastOf(start, today));
  const first = validDate('start_date', start ?? shiftDate(last, 1 - DEFAULT_DAYS) ?? last);
  const days = daysBetween(first, last) ?? -1;
  if (days < 0) throw refused('end_date', 'must not be before start_date');
  if (days >= MAX_DAYS) throw refused('start_date', `at most ${MAX_DAYS} days are answered at once`);
  return { first, last };
}

/** With only a start: up to today, or as many days as allowed. */
function lastOf(start: string | undefined, today: string): string {
  const most = start === undefined ? undefined : shiftDate(start, MAX_DAYS - 1);
  return most === undefined || most > today ? today : most;
}

function validDate(field: string, text: string): string {
  if (shiftDate(text, 0) === undefined) throw refused(field, 'there is no such day');
  return text;
}

function refused(field: string, message: string): AppError {
  return new AppError('INVALID_ARGUMENT', `${field}: ${message}`, { details: [{ field, message }] });
}

export class UsageSummaryView {
  @ApiProperty(CALLS)
  total_calls: number;
  @ApiProperty({ ...CALLS, description: 'Calls answered with a status below 400' })
  success_calls: number;
  @ApiProperty(CALLS)
  failed_calls: number;
  @ApiProperty(MILLISECONDS)
  avg_latency: number;
  @ApiProperty({ ...MILLISECONDS, description: 'Milliseconds that 95 of 100 calls did not exceed' })
  p95_latency: number;
}

export class DayStatsView extends UsageSummaryView {
  @ApiProperty(DATE)
  date: string;
}

export class EndpointStatsView {
  @ApiProperty({ type: String, description: 'Route template', example: '/api/open/resources/:type/:tmdb_id' })
  endpoint: string;
  @ApiProperty({ type: String, example: 'GET' })
  method: string;
  @ApiProperty(CALLS)
  total_calls: number;
  @ApiProperty(CALLS)
  success_calls: number;
  @ApiProperty(CALLS)
  failed_calls: number;
  @ApiProperty(MILLISECONDS)
  avg_latency: number;
}

export class UsageView {
  @ApiProperty({ type: [DayStatsView], description: 'Days with calls, oldest first' })
  daily_stats: DayStatsView[];
  @ApiProperty({ type: [EndpointStatsView], description: 'Most called first' })
  endpoint_stats: EndpointStatsView[];
  @ApiProperty({ type: UsageSummaryView })
  summary: UsageSummaryView;
}

export function toUsageView({ days, endpoints, summary }: Usage): UsageView {
  return {
    daily_stats: days.map(toDayView),
    endpoint_stats: endpoints.map(toEndpointView),
    summary: toSummaryView(summary),
  };
}

export function toSummaryView(totals: UsageTotals): UsageSummaryView {
  return summaryOf(totals);
}

function toDayView(day: DayUsage): DayStatsView {
  return { date: day.date, ...summaryOf(day) };
}

function summaryOf(totals: UsageTotals): ReturnType<typeof countsOf> & { p95_latency: number } {
  return { ...countsOf(totals), p95_latency: totals.p95Ms };
}

function toEndpointView({ endpoint, method, ...counts }: EndpointUsage): EndpointStatsView {
  return { endpoint, method, ...countsOf(counts) };
}

function countsOf({ total, ok, latencyUs }: Pick<UsageTotals, 'total' | 'ok' | 'latencyUs'>): {
  total_calls: number;
  success_calls: number;
  failed_calls: number;
  avg_latency: number;
} {
  const average = total === 0 ? 0 : Math.round(latencyUs / total) / 1_000;
  return { total_calls: total, success_calls: ok, failed_calls: total - ok, avg_latency: average };
}
