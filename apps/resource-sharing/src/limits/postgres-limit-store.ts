import { pgPool } from '@gatehouse/persistence';
import type { DataSource } from 'typeorm';
import { Batches, wasUndone } from '../batches/batches.js';
import { mergeAdmissions, type AdmissionRequest } from './merged-admissions.js';
import { LimitStore, type Admission, type QuotaRequest, type TokenAnswer, type TokenRequest } from './limit-store.js';

interface Row {
  granted: number;
  room: number;
  ahead_s: number;
}

interface AdmissionRow {
  granted: boolean;
  rooms: number[] | null;
  aheads_s: number[] | null;
  exceeded: number;
}

const NOT_FOR_ALL = new Error('there is not enough for all of these calls');

/** Tokens in the table rate_limits: one statement for any number of keys. */
export class PostgresLimitStore extends LimitStore {
  private readonly dataSource: DataSource;
  private readonly admissions = new Batches<AdmissionRequest, Admission>({
    run: (asked) => this.admitTogether(asked),
    splits: (error) => error === NOT_FOR_ALL || wasUndone(error),
    keyOf: (request) => request,
  });

  constructor(dataSource: DataSource) {
    super();
    this.dataSource = dataSource;
  }

  override get admitting(): boolean {
    return this.admissions.busy;
  }

  async take(requests: readonly TokenRequest[], all: boolean): Promise<TokenAnswer[]> {
    const { rows } = await pgPool(this.dataSource).query<Row>({
      name: 'take_tokens',
      text: 'SELECT granted, room, ahead_s FROM take_tokens($1, $2, $3, $4, $5)',
      values: [
        requests.map(({ key }) => key),
        requests.map(({ intervalMs }) => intervalMs / 1_000),
        requests.map(({ burst }) => burst),
        requests.map(({ cost }) => cost),
        all,
      ],
    });
    return rows.map(({ granted, room, ahead_s }) => ({ granted, room, aheadMs: ahead_s * 1_000 }));
  }

  /** One statement and one transaction that concurrent calls share. */
  admit(requests: readonly TokenRequest[], quota: QuotaRequest | undefined): Promise<Admission> {
    return this.admissions.submit({ requests, quota });
  }

  /** If there is not enough for all of them, each call is decided separately. */
  private async admitTogether(asked: readonly AdmissionRequest[]): Promise<readonly Admission[]> {
    const { tokens, quotas, answer } = mergeAdmissions(asked);
    const { rows } = await pgPool(this.dataSource).query<{ aheads_s: number[] | null }>({
      name: 'admit_calls',
      text: 'SELECT aheads_s FROM admit_calls($1, $2, $3, $4, $5, $6, $7, $8)',
      values: [
        tokens.map(({ key }) => key),
        tokens.map(({ intervalMs }) => intervalMs / 1_000),
        tokens.map(({ burst }) => burst),
        tokens.map(({ count }) => count),
        quotas.map(({ key }) => key),
        quotas.map(({ day }) => day),
        quotas.map(({ limit }) => limit),
        quotas.map(({ count }) => count),
      ],
    });
    const aheads = rows[0]?.aheads_s;
    if (aheads) return answer(aheads.map((seconds) => seconds * 1_000));
    const [only, ...others] = asked;
    if (only === undefined || others.length > 0) throw NOT_FOR_ALL;
    return [await this.admitOne(only)];
  }

  private async admitOne({ requests, quota }: AdmissionRequest): Promise<Admission> {
    const { rows } = await pgPool(this.dataSource).query<AdmissionRow>({
      name: 'admit_call',
      text: 'SELECT granted, rooms, aheads_s, exceeded FROM admit_call($1, $2, $3, $4, $5, $6)',
      values: [
        requests.map(({ key }) => key),
        requests.map(({ intervalMs }) => intervalMs / 1_000),
        requests.map(({ burst }) => burst),
        quota?.keys ?? [],
        quota?.limits ?? [],
        quota?.day ?? null,
      ],
    });
    const [row] = rows;
    if (row === undefined) throw new Error('an admission answered nothing');
    const given = row.granted && row.exceeded === 0 ? 1 : 0;
    const tokens = requests.map((_, index): TokenAnswer => {
      return { granted: given, room: row.rooms?.[index] ?? 0, aheadMs: (row.aheads_s?.[index] ?? 0) * 1_000 };
    });
    return { tokens, exceeded: row.granted && row.exceeded > 0 ? row.exceeded - 1 : undefined };
  }
}
