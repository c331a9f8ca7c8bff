import { UnitOfWork } from '@gatehouse/persistence';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { rowsOf } from '../credentials/rows-of.js';
import { GRACE_SECONDS } from './lifetimes.js';

const EVERY_MS = 5 * 60_000;
/** Days of access tokens made ahead, and kept: an expired token is told from an unknown one as long as a refresh works. */
const DAYS_AHEAD = 3;
const DAYS_KEPT = 32;

/** Nobody waits for the rows that these find, so they may take as long as they need. */
const REMOVALS = [
  'DELETE FROM one_time_texts WHERE expires_at <= now()',
  // Kept for a while after their end, so that a late second use is seen as one.
  "DELETE FROM authorization_codes WHERE expires_at < now() - interval '1 day'",
  `UPDATE refresh_tokens SET successor_sealed = NULL
   WHERE successor_sealed IS NOT NULL AND consumed_at < now() - interval '${GRACE_SECONDS} seconds'`,
  `DELETE FROM refresh_tokens WHERE issued_at < now() - interval '32 days'
   AND (consumed_at < now() - interval '32 days' OR idle_expires_at < now() - interval '1 day')`,
  // Never taken up by their application, or without a token that could still be used.
  // In order and past locked rows: somebody may be ending several grants at the same time.
  `DELETE FROM grants WHERE id IN (
     SELECT id FROM grants g WHERE (exchanged_at IS NULL AND created_at < now() - interval '1 day')
       OR (created_at < now() - interval '33 days'
         AND NOT EXISTS (SELECT 1 FROM refresh_tokens t WHERE t.grant_id = g.id))
     ORDER BY id FOR UPDATE SKIP LOCKED)`,
];

/** Makes the days of access tokens ahead of time and removes what is dead; one replica at a time, every five minutes. */
@Injectable()
export class TokenRetention implements OnModuleInit, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly logger: JsonLogger,
  ) {}

  async onModuleInit(): Promise<void> {
    await this.attempt(() => this.alone(arrangeDays));
    this.timer = setInterval(() => void this.run(), EVERY_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  run(): Promise<void> {
    this.running ??= this.attempt(() => this.maintain()).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** Never rejects: tokens of a day without a partition go to the default one. */
  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.warn('tokens were not tidied', { error }, 'TokenRetention');
    }
  }

  private async maintain(): Promise<void> {
    await this.alone(arrangeDays);
    for (const removal of REMOVALS) {
      await this.alone(async (tx) => {
        await tx.query(removal);
      });
    }
  }

  /** A transaction of its own for each step: locks of one are not held during the next. */
  private async alone(work: (tx: EntityManager) => Promise<void>): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const [lock] = await rowsOf(tx, "SELECT pg_try_advisory_xact_lock(hashtext('gatehouse.token-retention')) AS got");
      if (lock?.['got'] === true) await work(tx);
    });
  }
}

async function arrangeDays(tx: EntityManager): Promise<void> {
  // A new or dropped day locks all others for a moment: better none this time than a queue of requests behind it.
  await tx.query("SET LOCAL lock_timeout = '2s'");
  const rows = await rowsOf(
    tx,
    `SELECT to_char(day, 'YYYYMMDD') AS name, day::date::text AS first, (day::date + 1)::text AS next,
       to_regclass('access_tokens_' || to_char(day, 'YYYYMMDD')) IS NOT NULL AS made
     FROM generate_series(timezone('UTC', now())::date, timezone('UTC', now())::date + $1::integer, '1 day') AS day`,
    [DAYS_AHEAD],
  );
  for (const { name, first, next, made } of rows) {
    if (made === true) continue;
    await tx.query(
      `CREATE TABLE access_tokens_${String(name)} PARTITION OF access_tokens
       FOR VALUES FROM ('${String(first)} 00:00Z') TO ('${String(next)} 00:00Z')`,
    );
  }
  const old = await rowsOf(
    tx,
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'access_tokens'::regclass AND c.relname ~ '^access_tokens_\\d{8}$'
       AND c.relname < 'access_tokens_' || to_char(timezone('UTC', now()) - make_interval(days => $1), 'YYYYMMDD')`,
    [DAYS_KEPT],
  );
  for (const { name } of old) await tx.query(`DROP TABLE ${String(name)}`);
}
