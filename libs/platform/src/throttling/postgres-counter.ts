import type { WindowCounter, WindowState } from './fixed-window.js';

/** A connection pool's query method, as pg has it. */
export interface NamedQueryClient {
  query(statement: { name: string; text: string; values: unknown[] }): Promise<{ rows: unknown[] }>;
}

/** The part of TypeORM's QueryRunner that migrations use here. */
export interface ThrottleTableRunner {
  query(sql: string): Promise<unknown>;
}

/** Creates the table of PostgresWindowCounter: not logged, because a crash may forget counts of the last minutes. */
export async function createThrottleTable(runner: ThrottleTableRunner): Promise<void> {
  await runner.query(
    'CREATE UNLOGGED TABLE throttle_windows (key text PRIMARY KEY, hits integer NOT NULL, ends_at timestamptz NOT NULL)',
  );
  await runner.query('CREATE INDEX throttle_windows_ends_at_idx ON throttle_windows (ends_at)');
}

/** Undoes createThrottleTable(). */
export async function dropThrottleTable(runner: ThrottleTableRunner): Promise<void> {
  await runner.query('DROP TABLE throttle_windows');
}

const HIT = `INSERT INTO throttle_windows AS kept (key, hits, ends_at)
  VALUES ($1, 1, now() + make_interval(secs => $2::float8 / 1000))
  ON CONFLICT (key) DO UPDATE SET
    hits = CASE WHEN kept.ends_at <= now() THEN 1 ELSE kept.hits + 1 END,
    ends_at = CASE WHEN kept.ends_at <= now() THEN excluded.ends_at ELSE kept.ends_at END
  RETURNING hits, extract(epoch FROM ends_at - now())::float8 * 1000 AS remaining_ms`;

const SWEEP = 'DELETE FROM throttle_windows WHERE ends_at < now()';
const SWEEP_EVERY = 1_000;

/**
 * Windows in the table throttle_windows, shared by all replicas: one statement per hit, so it is not for polled reads.
 */
export class PostgresWindowCounter implements WindowCounter {
  private readonly client: NamedQueryClient;
  private hits = 0;

  constructor(client: NamedQueryClient) {
    this.client = client;
  }

  async hit(key: string, windowMs: number): Promise<WindowState> {
    const { rows } = await this.client.query({ name: 'throttle_hit', text: HIT, values: [key, windowMs] });
    if (++this.hits % SWEEP_EVERY === 0) {
      await this.client.query({ name: 'throttle_sweep', text: SWEEP, values: [] });
    }
    const [row] = rows as { hits: number; remaining_ms: number }[];
    if (row === undefined) throw new Error('The hit was not counted.');
    // A statement that waited for another one began before the window that the other one started.
    return { hits: row.hits, remainingMs: Math.min(row.remaining_ms, windowMs) };
  }
}
