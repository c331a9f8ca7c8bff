import { pgPool } from '@gatehouse/persistence';
import type { DataSource } from 'typeorm';
import { LimitStore, type TokenAnswer, type TokenRequest } from './limit-store.js';

interface Row {
  granted: number;
  room: number;
  ahead_s: number;
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
}
