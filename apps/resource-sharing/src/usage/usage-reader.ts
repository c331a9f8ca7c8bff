import { pgPool } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Caller } from '../credentials/caller.js';
import { quantileMs } from './latency-histogram.js';
import { UsageRecorder, type UsageCounts } from './usage-recorder.js';

export interface UsageTotals {
  readonly total: number;
  readonly ok: number;
  readonly latencyUs: number;
  readonly p95Ms: number;
}

export interface DayUsage extends UsageTotals {
  readonly date: string;
}

export interface EndpointUsage {
  readonly method: string;
  readonly endpoint: string;
  readonly total: number;
  readonly ok: number;
  readonly latencyUs: number;
}

/** Whose calls are read. `userId` null: those for all users together. */
export interface UsageSubject {
  readonly applicationId: number;
  readonly credentialId: number;
  readonly userId: number | null;
}

/** First and last day, both included. */
export interface UsageRange {
  readonly first: string;
  readonly last: string;
}

export interface Usage {
  readonly days: readonly DayUsage[];
  readonly endpoints: readonly EndpointUsage[];
  readonly summary: UsageTotals;
}

/** A personal key sees its own calls, an application all of its own, and with a user token only those for that user. */
export function usageSubjectOf({ applicationId, credentialId, grantId, userId, isTest }: Caller): UsageSubject {
  return applicationId === null
    ? { applicationId: 0, credentialId: credentialId ?? 0, userId: null }
    : { applicationId, credentialId: isTest ? TEST_CALLS : 0, userId: grantId === null ? null : userId };
}

/** In the place of a credential: the calls of an application with its test keys. */
export const TEST_CALLS = -1;

interface Sum {
  total: number;
  ok: number;
  latencyUs: number;
  buckets: number[];
}

interface DayRow {
  date: string;
  total: number;
  ok: number;
  latency_us: number;
  buckets: (string | number)[];
}

interface EndpointRow {
  method: string;
  endpoint: string;
  total: number;
  ok: number;
  latency_us: number;
}

const OF_SUBJECT = `application_id = $1 AND credential_id = $2 AND day BETWEEN $3::date AND $4::date
  AND ($5::bigint IS NULL OR user_id = $5)`;
const SUMS = `sum(total_calls)::bigint AS total, sum(success_calls)::bigint AS ok, sum(latency_us)::bigint AS latency_us`;

const DAYS = `SELECT day::text AS date, ${SUMS}, sum_buckets(buckets) AS buckets
  FROM usage_daily WHERE ${OF_SUBJECT} GROUP BY day ORDER BY day`;
const ENDPOINTS = `SELECT method, endpoint, ${SUMS} FROM usage_endpoint_daily WHERE ${OF_SUBJECT}
  GROUP BY method, endpoint`;

/** Counted calls: those in the tables, and the last second of this process. */
@Injectable()
export class UsageReader {
  constructor(
    private readonly dataSource: DataSource,
    private readonly recorder: UsageRecorder,
  ) {}

  async read(subject: UsageSubject, range: UsageRange): Promise<Usage> {
    const values = [subject.applicationId, subject.credentialId, range.first, range.last, subject.userId];
    const pool = pgPool(this.dataSource);
    const { stored, pending } = await this.recorder.beside(() =>
      Promise.all([
        pool.query<DayRow>({ name: 'usage_days', text: DAYS, values }),
        pool.query<EndpointRow>({ name: 'usage_endpoints', text: ENDPOINTS, values }),
      ]),
    );
    const own = pending.filter(({ key }) => isOf(key, subject) && key.day >= range.first && key.day <= range.last);
    const days = addDays(stored[0].rows, own);
    return {
      days: [...days].sort(([one], [other]) => (one < other ? -1 : 1)).map(([date, sum]) => ({ date, ...totals(sum) })),
      endpoints: addEndpoints(stored[1].rows, own),
      summary: totals([...days.values()].reduce(add, nothing())),
    };
  }
}

function isOf(key: UsageCounts['key'], subject: UsageSubject): boolean {
  return (
    key.applicationId === subject.applicationId &&
    key.credentialId === subject.credentialId &&
    (subject.userId === null || key.userId === subject.userId)
  );
}

function addDays(rows: readonly DayRow[], own: readonly UsageCounts[]): Map<string, Sum> {
  const days = new Map<string, Sum>();
  for (const { date, total, ok, latency_us: latencyUs, buckets } of rows) {
    days.set(date, { total, ok, latencyUs, buckets: buckets.map(Number) });
  }
  for (const { key, buckets, ...counts } of own) {
    days.set(key.day, add(days.get(key.day) ?? nothing(), { ...counts, buckets: [...buckets] }));
  }
  return days;
}

function addEndpoints(rows: readonly EndpointRow[], own: readonly UsageCounts[]): EndpointUsage[] {
  const endpoints = new Map<string, EndpointUsage>();
  const counted = rows.map(({ latency_us: latencyUs, ...row }) => ({ ...row, latencyUs }));
  const fresh = own.map(({ key: { method, endpoint }, total, ok, latencyUs }) => ({
    method,
    endpoint,
    total,
    ok,
    latencyUs,
  }));
  for (const more of [...counted, ...fresh]) {
    const id = `${more.endpoint} ${more.method}`;
    const sum = endpoints.get(id);
    endpoints.set(id, sum === undefined ? more : { ...more, ...sumOf(sum, more) });
  }
  return [...endpoints.values()].sort(
    (one, other) => other.total - one.total || one.endpoint.localeCompare(other.endpoint),
  );
}

type Counts = Pick<Sum, 'total' | 'ok' | 'latencyUs'>;

function sumOf(one: Counts, other: Counts): Counts {
  return { total: one.total + other.total, ok: one.ok + other.ok, latencyUs: one.latencyUs + other.latencyUs };
}

function add(one: Sum, other: Sum): Sum {
  const [longer, shorter] =
    one.buckets.length >= other.buckets.length ? [one.buckets, other.buckets] : [other.buckets, one.buckets];
  return { ...sumOf(one, other), buckets: longer.map((count, index) => count + (shorter[index] ?? 0)) };
}

const nothing = (): Sum => ({ total: 0, ok: 0, latencyUs: 0, buckets: [] });

function totals({ buckets, ...counts }: Sum): UsageTotals {
  return { ...counts, p95Ms: quantileMs(buckets, 0.95) };
}
