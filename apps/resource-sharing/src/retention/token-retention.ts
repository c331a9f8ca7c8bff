import { addRangePartition, UnitOfWork } from '@gatehouse/persistence';
import { HealthRegistry, JsonLogger, MetricsRegistry } from '@gatehouse/platform';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { oneRow, rowsOf } from '../data/rows-of.js';
import { GRACE_SECONDS } from '../oauth/lifetimes.js';

const DAY_MS = 86_400_000;
/**
 * Days of access tokens that are created ahead and kept. While a refresh works, an expired token must not look like an
 * unknown one.
 */
const DAYS_AHEAD = 3;
const DAYS_KEPT = 32;
const MAX_STRAYS = 1_000;

/** Nobody waits for these rows, so the statements can take as long as they need. */
const REMOVALS = [
  'DELETE FROM one_time_texts WHERE expires_at <= now()',
  // Kept for a while after their end, so that a late second use is recognized.
  "DELETE FROM authorization_codes WHERE expires_at < now() - interval '1 day'",
  "DELETE FROM device_codes WHERE expires_at < now() - interval '1 day'",
  `UPDATE refresh_tokens SET successor_sealed = NULL
   WHERE successor_sealed IS NOT NULL AND consumed_at < now() - interval '${GRACE_SECONDS} seconds'`,
  `DELETE FROM refresh_tokens WHERE issued_at < now() - interval '32 days'
   AND (consumed_at < now() - interval '32 days' OR idle_expires_at < now() - interval '1 day')`,
  // Never used by their application, or without a token that could still be used.
  // In order and past locked rows: a request may be ending several grants at the same time.
  `DELETE FROM grants WHERE id IN (
     SELECT id FROM grants g WHERE (exchanged_at IS NULL AND created_at < now() - interval '1 day')
       OR (created_at < now() - interval '33 days'
         AND NOT EXISTS (SELECT 1 FROM refresh_tokens t WHERE t.grant_id = g.id))
     ORDER BY id FOR UPDATE SKIP LOCKED)`,
];

/** Creates the days of access tokens ahead of time and deletes expired ones; one process at a time. */
@Injectable()
export class TokenRetention implements OnModuleInit {
  private readonly strays;
  private strayRows = 0;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly logger: JsonLogger,
    private readonly health: HealthRegistry,
    private readonly metrics: MetricsRegistry,
  ) {
    this.strays = metrics.gauge(
      'default_partition_rows',
      'Rows that are in no partition of their own, up to 1,000: days could not be made',
      ['table'],
    );
  }

  async onModuleInit(): Promise<void> {
    this.health.register('access_tokens_default', () => this.refuseStrays(), { degrades: true });
    this.metrics.onScrape(() => this.attempt(() => this.countStrays()));
    await this.arrangeDays();
  }

  /** Never rejects: a failed step is repeated by the next run. Stops between two steps if `signal` aborts. */
  async sweep(signal?: AbortSignal): Promise<void> {
    await this.arrangeDays();
    for (const removal of REMOVALS) {
      if (signal?.aborted) return;
      await this.alone(async (tx) => {
        await tx.query(removal);
      });
    }
  }

  /** Never rejects: tokens of a day without a partition go to the default one. */
  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.warn('tokens were not tidied', { error }, 'TokenRetention');
    }
  }

  /** Each day separately, so that one that cannot be created now does not prevent the others. */
  private async arrangeDays(): Promise<void> {
    let missing: string[] = [];
    await this.alone(async (tx) => {
      missing = await missingDays(tx);
    });
    for (const day of missing) {
      await this.alone(async (tx) => {
        // Another replica may have been faster.
        if ((await missingDays(tx)).includes(day)) await addDay(tx, day);
      });
    }
    await this.alone(dropOldDays);
    await this.attempt(() => this.countStrays());
  }

  private async countStrays(): Promise<void> {
    const sql = `SELECT count(*)::integer AS rows FROM (SELECT 1 FROM access_tokens_default LIMIT ${MAX_STRAYS}) AS strays`;
    const { rows } = await this.unitOfWork.run((tx) => oneRow<{ rows: number }>(tx, sql));
    this.strayRows = rows;
    this.strays.set({ table: 'access_tokens_default' }, this.strayRows);
  }

  /** Counts now: the sweep may run in another process. */
  private async refuseStrays(): Promise<void> {
    await this.countStrays();
    if (this.strayRows > 0) {
      throw new Error(`${this.strayRows} access tokens are in no day's partition: days cannot be made`);
    }
  }

  /**
   * A separate transaction for each step: locks of one step are not held during the next, and a failed step does not
   * prevent the others.
   */
  private alone(work: (tx: EntityManager) => Promise<void>): Promise<void> {
    return this.attempt(() =>
      this.unitOfWork.run(async (tx) => {
        const { got } = await oneRow<{ got: boolean }>(
          tx,
          "SELECT pg_try_advisory_xact_lock(hashtext('gatehouse.token-retention')) AS got",
        );
        if (got) await work(tx);
      }),
    );
  }
}

/** Days that should exist and do not: the next days, and those of rows in the default partition. */
async function missingDays(tx: EntityManager): Promise<string[]> {
  const rows = await rowsOf<{ day: string }>(
    tx,
    `SELECT day::text FROM (
       SELECT timezone('UTC', now())::date + ahead AS day FROM generate_series(0, $1::integer) AS ahead
       UNION SELECT timezone('UTC', expires_at)::date FROM access_tokens_default) AS days
     WHERE to_regclass('access_tokens_' || to_char(day, 'YYYYMMDD')) IS NULL ORDER BY day`,
    [DAYS_AHEAD],
  );
  return rows.map(({ day }) => day);
}

async function addDay(tx: EntityManager, day: string): Promise<void> {
  const from = new Date(`${day}T00:00:00Z`);
  await addRangePartition(tx, {
    parent: 'access_tokens',
    name: `access_tokens_${day.replaceAll('-', '')}`,
    from,
    to: new Date(from.getTime() + DAY_MS),
    rowsFrom: { table: 'access_tokens_default', column: 'expires_at' },
  });
}

async function dropOldDays(tx: EntityManager): Promise<void> {
  // Dropping a day locks all others for a moment: skipping it this time is better than a queue of requests behind it.
  await tx.query("SET LOCAL lock_timeout = '2s'");
  await tx.query('DELETE FROM access_tokens_default WHERE expires_at < now() - make_interval(days => $1)', [DAYS_KEPT]);
  const old = await rowsOf<{ name: string }>(
    tx,
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'access_tokens'::regclass AND c.relname ~ '^access_tokens_\\d{8}$'
       AND c.relname < 'access_tokens_' || to_char(timezone('UTC', now()) - make_interval(days => $1), 'YYYYMMDD')`,
    [DAYS_KEPT],
  );
  for (const { name } of old) await tx.query(`DROP TABLE ${name}`);
}
