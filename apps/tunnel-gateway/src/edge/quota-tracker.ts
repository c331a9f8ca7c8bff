import type { TrafficQuota } from '@gatehouse/tunnel-kernel';
import type { Queries } from '../common/edge-database.js';
import { READ_QUOTAS, type StoredQuota } from '../common/quota-rows.js';
import type { UnsentFlows } from './flow-batch.js';

export const QUOTAS_CHANNEL = 'tunnel_gateway:quotas';

export interface QuotaTrackerOptions {
  queries: Queries;
  now: () => number;
  /** What is left from now on, whenever it is known better. */
  onLeft(quotas: TrafficQuota[]): void;
}

/**
 * What is left of traffic quotas, as far as this process knows: what the database has counted, and what this process
 * has collected since. Other processes' part is as old as their last batch and the last one of this process.
 */
export class QuotaTracker {
  private readonly options: QuotaTrackerOptions;
  private quotas = new Map<string, StoredQuota>();
  private stale = true;

  constructor(options: QuotaTrackerOptions) {
    this.options = options;
  }

  /** Quotas may have changed: `afterWrite` reads them. */
  invalidate(): void {
    this.stale = true;
  }

  /** A batch was added. Null: an attempt had added it before, whose answer was lost. */
  counted(quotas: readonly StoredQuota[] | null): void {
    if (quotas === null) this.stale = true;
    for (const quota of quotas ?? []) this.quotas.set(keyOf(quota), quota);
  }

  /** All batches of this process are in the database; `unsent` is all that was collected since. @throws Error of the database */
  async afterWrite(unsent: UnsentFlows): Promise<void> {
    const wasStale = this.stale;
    if (wasStale) await this.read();
    this.rollOver();
    if (wasStale || this.quotas.size > 0) this.report(unsent);
  }

  /** The database does not answer: what it would begin again begins again here. */
  whileAway(unsent: UnsentFlows): void {
    if (this.rollOver()) this.report(unsent);
  }

  private report(unsent: UnsentFlows): void {
    this.options.onLeft(
      [...this.quotas.values()].map(({ kind, id, bytes, used }) => ({
        kind,
        id,
        left: bytes - used - unsent.bytesOf(kind, id),
      })),
    );
  }

  private async read(): Promise<void> {
    // A notification that comes meanwhile may be about what this read did not see.
    this.stale = false;
    try {
      const { rows } = await this.options.queries.query<StoredQuota>(READ_QUOTAS);
      this.quotas = new Map(rows.map((quota) => [keyOf(quota), quota]));
    } catch (error) {
      this.stale = true;
      throw error;
    }
  }

  /** Whether a new period has begun for any quota. */
  private rollOver(): boolean {
    const now = this.options.now();
    let some = false;
    for (const [key, quota] of this.quotas) {
      if (quota.resetsAt === null || quota.resetsAt > now) continue;
      this.quotas.set(key, { ...quota, used: 0, resetsAt: null });
      // The database says when the next one begins.
      this.stale = true;
      some = true;
    }
    return some;
  }
}

function keyOf({ kind, id }: Pick<StoredQuota, 'kind' | 'id'>): string {
  return `${kind} ${id}`;
}
