import { addCounts, guarded } from '@gatehouse/net';
import type { FlowDelta } from '../flow-ledger.js';
import type { ResourceKind } from '../resource.js';

/** How often running flows are compared with what is left: a flow outlives its quota by this at most. */
export const LOOK_MS = 100;

/** Whose traffic a quota counts. A user's counts that of all its clients, a client's that of all its tunnels and hosts. */
export type QuotaKind = 'user' | 'client' | ResourceKind;

/** What may still be carried. */
export interface TrafficQuota {
  kind: QuotaKind;
  id: number;
  /** Bytes, in both directions together, from now on; what `takeDeltas` has passed on before is no part of it. */
  left: number;
}

/** Who a flow counts for. */
export interface QuotaSubject {
  resource: { kind: ResourceKind; id: number };
  clientId: number;
  userId: number;
}

export interface TrafficQuotasOptions {
  userOf(clientId: number): number;
  /** What was carried since the last `takeDeltas`. */
  pending(): Iterable<FlowDelta>;
  /** These quotas are used up from now on: their flows must end. */
  onUsedUp(quotas: readonly Pick<TrafficQuota, 'kind' | 'id'>[]): void;
}

/**
 * How much traffic is left. Flows count their bytes as they always do; while there are quotas, a timer compares them
 * with what is left. Without quotas there is no timer, and a new visitor costs one comparison.
 */
export class TrafficQuotas {
  private readonly options: TrafficQuotasOptions;
  private quotas = new Map<string, TrafficQuota>();
  private usedUp = new Map<string, TrafficQuota>();
  private timer: NodeJS.Timeout | null = null;

  constructor(options: TrafficQuotasOptions) {
    this.options = options;
  }

  /** Replaces all quotas. */
  set(quotas: Iterable<TrafficQuota>): void {
    this.quotas = new Map([...quotas].map((quota) => [keyOf(quota.kind, quota.id), { ...quota }]));
    if (this.quotas.size === 0) this.stop();
    else
      this.timer ??= setInterval(
        guarded(null, () => this.look()),
        LOOK_MS,
      ).unref();
    this.look();
  }

  /** The quota that stops this traffic; null: none does. */
  stopping({ resource, clientId, userId }: QuotaSubject): Pick<TrafficQuota, 'kind' | 'id'> | null {
    if (this.usedUp.size === 0) return null;
    for (const key of keysOf(resource, clientId, userId)) {
      const quota = this.usedUp.get(key);
      if (quota) return quota;
    }
    return null;
  }

  /** These bytes are no longer pending. */
  taken(deltas: Iterable<FlowDelta>): void {
    if (this.quotas.size === 0) return;
    for (const [key, bytes] of this.sumsOf(deltas)) {
      const quota = this.quotas.get(key);
      if (quota) quota.left -= bytes;
    }
  }

  stop(): void {
    if (this.timer) clearInterval(this.timer);
    this.timer = null;
  }

  private look(): void {
    const pending = this.quotas.size > 0 ? this.sumsOf(this.options.pending()) : new Map<string, number>();
    const before = this.usedUp;
    this.usedUp = new Map([...this.quotas].filter(([key, { left }]) => left <= (pending.get(key) ?? 0)));
    const fresh = [...this.usedUp].filter(([key]) => !before.has(key)).map(([, quota]) => quota);
    if (fresh.length > 0) this.options.onUsedUp(fresh.map(({ kind, id }) => ({ kind, id })));
  }

  private sumsOf(deltas: Iterable<FlowDelta>): Map<string, number> {
    const sums = new Map<string, number>();
    for (const { resource, clientId, upload, download } of deltas) {
      const bytes = addCounts(upload, download);
      for (const key of keysOf(resource, clientId, this.options.userOf(clientId))) {
        sums.set(key, addCounts(sums.get(key) ?? 0, bytes));
      }
    }
    return sums;
  }
}

function keyOf(kind: QuotaKind, id: number): string {
  return `${kind} ${id}`;
}

function keysOf({ kind, id }: QuotaSubject['resource'], clientId: number, userId: number): string[] {
  return [keyOf(kind, id), keyOf('client', clientId), keyOf('user', userId)];
}
