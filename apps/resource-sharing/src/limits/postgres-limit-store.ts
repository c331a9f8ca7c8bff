import { pgPool } from '@gatehouse/persistence';
import type { DataSource } from 'typeorm';
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

/** Tokens in the table rate_limits: one statement whatever the number of keys. */
export class PostgresLimitStore extends LimitStore {
  private readonly dataSource: DataSource;

  constructor(dataSource: DataSource) {
    super();
    this.dataSource = dataSource;
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

  /** One statement and one transaction. */
  async admit(requests: readonly TokenRequest[], quota: QuotaRequest | undefined): Promise<Admission> {
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
    const given = row.granted ? 1 : 0;
    const tokens = requests.map((_, index): TokenAnswer => {
      return { granted: given, room: row.rooms?.[index] ?? 0, aheadMs: (row.aheads_s?.[index] ?? 0) * 1_000 };
    });
    return { tokens, exceeded: row.granted && row.exceeded > 0 ? row.exceeded - 1 : undefined };
  }
}
