import type { TunnelServerConfig } from '../config.js';
import type { Flow, FlowLedger } from '../flow-ledger.js';
import { ExpiryClock } from '../limits/expiry-clock.js';
import { limitKey, RateLimits, type HeldBack } from '../limits/rate-limits.js';
import { SharedLimits } from '../limits/shared-limits.js';
import { TrafficQuotas, type TrafficQuota } from '../limits/traffic-quotas.js';
import { Admission, type RefusedVisitor } from '../modes/admission.js';
import { ADMISSION_REFUSALS, Gate, type Refusals } from './gate.js';
import type { IpRuleOptions } from './ip-rules.js';
import { RefusalSampler, type DeniedVisitors } from './refusal-sampler.js';
import type { TrustedProxies } from './trusted-proxies.js';

export interface AccessControlOptions extends IpRuleOptions {
  /** Milliseconds since the epoch. */
  now: () => number;
  ledger: FlowLedger;
  proxies: TrustedProxies;
  /** Milliseconds. */
  proxyHeaderMs: number;
  onDenied: (visitors: DeniedVisitors) => void;
  /** Called for clients that expired; their visitors have been reset. */
  onExpired: (clientIds: readonly number[]) => void;
  /** Called when traffic quotas are used up; their visitors have been reset. `flows`: how many had a connection. */
  onUsedUp: (quotas: readonly Pick<TrafficQuota, 'kind' | 'id'>[], flows: number) => void;
}

/** Applies the configured access rules and rate limits to visitors, including those that are already connected. */
export class AccessControl {
  readonly gate: Gate;
  readonly admission: Admission;
  /** Makes the limits of clients one limit over all servers of a gateway. */
  readonly shared: SharedLimits;
  readonly quotas: TrafficQuotas;
  private readonly options: AccessControlOptions;
  private readonly limits = new RateLimits();
  private readonly expiry: ExpiryClock;
  private readonly sampler: RefusalSampler;
  private readonly counts = Object.fromEntries(ADMISSION_REFUSALS.map((reason) => [reason, 0])) as Refusals;

  constructor(options: AccessControlOptions) {
    const { now, proxyHeaderMs } = options;
    this.options = options;
    this.quotas = new TrafficQuotas({
      userOf: (clientId) => this.gate.userOf(clientId),
      pending: () => options.ledger.pendingDeltas(),
      onUsedUp: (quotas) => this.usedUp(quotas),
    });
    const elsewhere = {
      of: (clientId: number) => this.shared.connectionsElsewhere(clientId),
      changed: (clientId: number) => this.shared.connectionsChanged(clientId),
    };
    this.gate = new Gate(now, options, elsewhere, this.quotas);
    this.shared = new SharedLimits({
      connectionsOf: (clientId) => (this.gate.isLimited(clientId) ? this.gate.connectionsOf(clientId) : 0),
      rates: () => this.limits.demands(),
      setRate: (clientId, bytesPerSecond) => this.limits.setShare(clientId, bytesPerSecond),
    });
    this.sampler = new RefusalSampler(now);
    this.expiry = new ExpiryClock(now, (ids) => this.expired(ids));
    this.admission = new Admission({
      gate: this.gate,
      limits: this.limits,
      proxies: options.proxies,
      proxyHeaderMs,
      onRefused: (refused) => this.refused(refused),
    });
  }

  /**
   * Resets visitors that are no longer allowed, and updates the limits of the others. @throws TunnelError `protocol`
   * for an invalid rule; nothing has changed then.
   */
  apply(config: TunnelServerConfig): void {
    const { onExpired } = this.options;
    this.gate.apply(config);
    this.limit(this.limits.apply(config));
    const expired = this.expiry.apply(config.clients);
    this.enforce();
    if (expired.length > 0) onExpired(expired);
  }

  mayStay({ resource, clientId, visitor, asked }: Readonly<Flow>): boolean {
    return this.gate.refusal(resource, clientId, visitor.address, asked) === null;
  }

  /** Refused visitors since the start. */
  refusals(): Refusals {
    return { ...this.counts };
  }

  /** Those whose rate limit delayed visitors since the last call. */
  takeHeldBack(): HeldBack[] {
    return this.limits.takeHeldBack();
  }

  stop(): void {
    this.expiry.stop();
    this.quotas.stop();
  }

  private limit(changed: ReadonlySet<number>): void {
    if (changed.size === 0) return;
    this.options.ledger.limit(
      ({ clientId, resource: { kind, id } }) =>
        changed.has(limitKey('client', clientId)) || (kind === 'tunnel' && changed.has(limitKey(kind, id))),
      ({ clientId, resource }) => this.limits.of(clientId, resource),
    );
  }

  private expired(clientIds: readonly number[]): void {
    this.enforce();
    this.options.onExpired(clientIds);
  }

  private usedUp(quotas: readonly Pick<TrafficQuota, 'kind' | 'id'>[]): void {
    const { ledger, onUsedUp } = this.options;
    const flows = ledger.running().filter((flow) => !this.mayStay(flow)).length;
    this.enforce();
    onUsedUp(quotas, flows);
  }

  private enforce(): void {
    this.options.ledger.stop((flow) => !this.mayStay(flow));
    this.admission.enforce();
  }

  private refused({ resource, clientId, address, reason, asked }: RefusedVisitor): void {
    this.counts[reason] += 1;
    const count = this.sampler.count(resource, reason);
    if (count === 0) return;
    const rule = reason === 'address_denied' ? this.gate.denial(resource, clientId, address, asked) : null;
    this.options.onDenied({ resource, clientId, reason, address, rule, count });
  }
}
