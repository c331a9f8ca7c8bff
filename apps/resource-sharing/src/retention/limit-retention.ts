import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { oneRow } from '../data/rows-of.js';
import { NETWORK_DAYS } from '../site/sign-in-networks.js';

const BATCH = 5_000;
/** Batches of one table in one run: as many as an hour of the busiest minute leaves behind. */
const MAX_BATCHES = 60;

/** Messages about shares of titles. */
const MESSAGE_DAYS = 90;
/** Finished ones of one webhook. */
const KEPT_DELIVERIES = 5_000;

const REMOVALS = [
  // A time in the past has no effect.
  removal('rate_limits', 'tat < now()', 'FOR UPDATE SKIP LOCKED'),
  removal('quota_used', 'day < now()::date - 2'),
  removal('credential_addresses', 'day < now()::date - 2'),
  removal('share_looks', 'day < now()::date - 2'),
  removal('usage_daily', 'day < now()::date - 400'),
  removal('usage_endpoint_daily', 'day < now()::date - 400'),
  removal('refused_calls', `refused_at < now() - interval '30 days'`),
  removal('sign_in_networks', `last_used_at < now() - interval '${NETWORK_DAYS} days'`),
  removal('risk_events', `created_at < now() - interval '400 days'`),
  removal('messages', `created_at < now() - interval '${MESSAGE_DAYS} days'`),
  removal('resource_sharing_test.messages', `created_at < now() - interval '${MESSAGE_DAYS} days'`),
  removal('quota_warnings', 'day < now()::date - 2'),
  removal('webhook_deliveries', `status = 'delivered' AND finished_at < now() - interval '7 days'`),
  removal('webhook_deliveries', `status = 'dead' AND finished_at < now() - interval '30 days'`),
  `DELETE FROM webhook_deliveries WHERE id = ANY (ARRAY(
    SELECT old.id FROM webhooks w CROSS JOIN LATERAL (SELECT d.id FROM webhook_deliveries d
      WHERE d.webhook_id = w.id AND d.status <> 'pending' ORDER BY d.id DESC OFFSET ${KEPT_DELIVERIES}) AS old
    LIMIT ${BATCH}))`,
  // From the oldest on, up to the first one that stays. The table keeps events that the audit log does not have yet.
  `DELETE FROM audit_events WHERE id IN (
    SELECT id FROM (SELECT id, created_at FROM audit_events ORDER BY id LIMIT ${BATCH}) oldest
    WHERE created_at < now() - interval '401 days'
      AND NOT EXISTS (SELECT FROM unchained_events u WHERE u.event_id = oldest.id))`,
];

/** Deletes rows that no limit and no answer needs; one process at a time. */
@Injectable()
export class LimitRetention {
  constructor(private readonly unitOfWork: UnitOfWork) {}

  /** Stops between two batches if `signal` aborts; the next run continues. */
  async sweep(signal?: AbortSignal): Promise<void> {
    for (const statement of REMOVALS) {
      let removed = BATCH;
      for (let batch = 0; removed === BATCH && batch < MAX_BATCHES && !signal?.aborted; batch += 1) {
        removed = await this.remove(statement);
      }
    }
  }

  /** One transaction for each batch, so that requests that count in these tables wait for one batch at most. */
  private remove(statement: string): Promise<number> {
    return this.unitOfWork.run(async (tx) => {
      const lock = "SELECT pg_try_advisory_xact_lock(hashtext('gatehouse.limit-sweep')) AS got";
      const { got } = await oneRow<{ got: boolean }>(tx, lock);
      if (!got) return 0;
      const [, removed]: [unknown, number] = await tx.query(statement);
      return removed;
    });
  }
}

function removal(table: string, condition: string, lock = ''): string {
  return `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${BATCH} ${lock}))`;
}
