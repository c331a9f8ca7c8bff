import { UnitOfWork } from '@gatehouse/persistence';
import { JsonLogger } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { rowsOf } from '../data/rows-of.js';

const EVERY_MS = 60_000;
const BATCH = 5_000;
/** Batches of one table in one run: as many as an hour of the busiest minute leaves behind. */
const MAX_BATCHES = 60;

const REMOVALS = [
  // A time that has come says nothing.
  removal('rate_limits', 'tat < now()', 'FOR UPDATE SKIP LOCKED'),
  removal('quota_used', 'day < now()::date - 2'),
  removal('credential_addresses', 'day < now()::date - 2'),
  removal('share_looks', 'day < now()::date - 2'),
  removal('usage_daily', 'day < now()::date - 400'),
  removal('usage_endpoint_daily', 'day < now()::date - 400'),
  removal('risk_events', `created_at < now() - interval '400 days'`),
  // From the oldest on, and no further than the first that stays. The table itself keeps what the audit log does not have yet.
  `DELETE FROM audit_events WHERE id IN (
    SELECT id FROM (SELECT id, created_at FROM audit_events ORDER BY id LIMIT ${BATCH}) oldest
    WHERE created_at < now() - interval '401 days'
      AND NOT EXISTS (SELECT FROM unchained_events u WHERE u.event_id = oldest.id))`,
];

/** Removes what no limit and no answer needs; one replica at a time, every minute. */
@Injectable()
export class LimitSweep implements OnModuleInit, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly logger: JsonLogger,
  ) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.run(), EVERY_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }

  /** Never rejects: what stays is removed the next time. */
  run(): Promise<void> {
    this.running ??= this.sweep()
      .catch((error: unknown) => this.logger.warn('limits were not tidied', { error }, 'LimitSweep'))
      .finally(() => {
        this.running = undefined;
      });
    return this.running;
  }

  private async sweep(): Promise<void> {
    for (const statement of REMOVALS) {
      let removed = BATCH;
      for (let batch = 0; removed === BATCH && batch < MAX_BATCHES; batch += 1) removed = await this.remove(statement);
    }
  }

  /** A transaction a batch: whoever counts in these tables does not wait for all of them. */
  private remove(statement: string): Promise<number> {
    return this.unitOfWork.run(async (tx) => {
      const [lock] = await rowsOf(tx, "SELECT pg_try_advisory_xact_lock(hashtext('gatehouse.limit-sweep')) AS got");
      if (lock?.['got'] !== true) return 0;
      const [, removed]: [unknown, number] = await tx.query(statement);
      return removed;
    });
  }
}

function removal(table: string, condition: string, lock = ''): string {
  return `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${BATCH} ${lock}))`;
}
