import { formatHostPort, guardPromise, resetStream, setFlowTimeout } from '@gatehouse/net';
import type { HealthCheckConfig, HostConfig, HostTarget } from '../config.js';
import type { TunnelLogger } from '../environment.js';
import type { ChannelSource } from '../session/channel-source.js';
import { stateOf } from './target-failure.js';
import { TargetHealth, type CheckResult, type HealthState } from './target-health.js';
import { askTarget } from './target-question.js';
import type { UpstreamTable } from './upstreams.js';

/** First checks are spread over this time, so that a start is not a burst. */
const FIRST_WITHIN_MS = 1_000;
/** How often it is seen whether an agent is back. */
const OFFLINE_MS = 2_000;
/** Checks at a time; further ones come a little later. */
const MAX_RUNNING = 256;
const BUSY_MS = 100;
/** What says something about the way to the target, or about a configuration that is still on its way, and not about it. */
const NO_RESULT: ReadonlySet<string> = new Set(['starting', 'offline', 'overloaded']);
const NOBODY = { address: '0.0.0.0', port: 0 };
const FIELDS = ['user-agent', 'Gatehouse-Health-Check'];

/** A target of a host, as checks see it. */
export interface CheckedTarget {
  hostId: number;
  target: Pick<HostTarget, 'scheme' | 'host' | 'port'>;
  state: HealthState;
  /** Why the last check failed; null: it did not, or there was none. */
  reason: string | null;
  /** Status of the last answer in HTTP. */
  status: number | null;
  /** Milliseconds since the epoch. */
  since: number | null;
  checkedAt: number | null;
}

/** A target went down, or is up again. */
export interface TargetChange extends CheckedTarget {
  clientId: number;
}

export interface HealthChecksOptions {
  now: () => number;
  logger: TunnelLogger;
  channels: Pick<ChannelSource, 'reach'>;
  upstreams: Pick<UpstreamTable, 'of'>;
  isOnline(clientId: number): boolean;
  onChange?: ((change: TargetChange) => void) | undefined;
}

type CheckedHost = HostConfig & { healthCheck: HealthCheckConfig };

/** One host whose targets are checked. */
interface Watch {
  host: CheckedHost;
  targets: TargetHealth[];
  timer: NodeJS.Timeout | null;
  stopped: boolean;
}

/** Checks targets as visits reach them, through the agents of their clients. Costs nothing while no host wants it. */
export class HealthChecks {
  private readonly options: HealthChecksOptions;
  private readonly watches = new Map<number, Watch>();
  private readonly down = new Map<number, ReadonlySet<number>>();
  private running = 0;

  constructor(options: HealthChecksOptions) {
    this.options = options;
  }

  /** `clients`: those that this process serves; hosts of others are checked by the process that does. */
  apply(hosts: readonly HostConfig[], clients: readonly { id: number }[]): void {
    const wanted = new Map(hosts.filter(isChecked).map((host) => [host.id, host]));
    if (wanted.size === 0 && this.watches.size === 0) return;
    const served = new Set(clients.map(({ id }) => id));
    for (const [id, watch] of this.watches) {
      const next = wanted.get(id);
      if (!next || !served.has(next.clientId)) this.end(watch);
    }
    for (const host of wanted.values()) if (served.has(host.clientId)) this.watch(host);
  }

  /** Targets that no visitor is sent to, by index; null: there are none. */
  downOf(hostId: number): ReadonlySet<number> | null {
    return this.down.get(hostId) ?? null;
  }

  states(hostIds: readonly number[]): CheckedTarget[] {
    return hostIds.flatMap((id) => {
      const watch = this.watches.get(id);
      return watch ? watch.targets.map((_, index) => stateAt(watch, index)) : [];
    });
  }

  stop(): void {
    for (const watch of this.watches.values()) this.end(watch);
  }

  private watch(host: CheckedHost): void {
    const known = this.watches.get(host.id);
    if (known && isSame(known.host, host)) {
      known.host = host;
      return;
    }
    if (known) this.end(known);
    const watch: Watch = {
      host,
      targets: host.targets.map((target) => kept(known, target)),
      timer: null,
      stopped: false,
    };
    this.watches.set(host.id, watch);
    this.note(watch);
    this.next(watch, Math.random() * Math.min(FIRST_WITHIN_MS, host.healthCheck.intervalMs));
  }

  private end(watch: Watch): void {
    watch.stopped = true;
    if (watch.timer) clearTimeout(watch.timer);
    this.watches.delete(watch.host.id);
    this.down.delete(watch.host.id);
  }

  private next(watch: Watch, ms: number): void {
    if (watch.stopped) return;
    watch.timer = setFlowTimeout(null, () => guardPromise(null, this.round(watch)), ms).unref();
  }

  private async round(watch: Watch): Promise<void> {
    const { clientId, healthCheck, targets } = watch.host;
    if (!this.options.isOnline(clientId)) {
      for (const target of watch.targets) target.forget();
      this.note(watch);
      return this.next(watch, Math.min(OFFLINE_MS, healthCheck.intervalMs));
    }
    if (this.running > 0 && this.running + targets.length > MAX_RUNNING) return this.next(watch, BUSY_MS);
    const startedAt = performance.now();
    this.running += targets.length;
    try {
      await Promise.all(targets.map((_, index) => this.check(watch, index)));
    } finally {
      this.running -= targets.length;
    }
    // A little earlier or later, so that hosts that were added together do not stay together.
    const intervalMs = watch.host.healthCheck.intervalMs * (0.95 + Math.random() * 0.1);
    this.next(watch, Math.max(0, intervalMs - (performance.now() - startedAt)));
  }

  private async check(watch: Watch, index: number): Promise<void> {
    const result = await this.ask(watch.host, index);
    if (result === null || watch.stopped) return;
    const { options } = this;
    if (!watch.targets[index]?.record(result, options.now(), watch.host.healthCheck)) return;
    this.note(watch);
    const { id, clientId } = watch.host;
    const state = stateAt(watch, index);
    options.logger.info(`a target is ${state.state}`, {
      host: id,
      target: targetName(state.target),
      reason: state.reason,
    });
    options.onChange?.({ ...state, clientId });
  }

  /** Null: it says nothing about the target. */
  private async ask(host: CheckedHost, index: number): Promise<CheckResult | null> {
    const { type, path, timeoutMs, expectedStatus } = host.healthCheck;
    try {
      if (type === 'tcp') {
        await this.connect(host, index);
        return { reason: null, status: null };
      }
      const upstream = this.options.upstreams.of(host).at(index);
      if (!upstream) return null;
      const status = await askTarget(upstream, host, { method: 'GET', path, timeoutMs, fields: FIELDS });
      const isExpected = status >= expectedStatus.from && status <= expectedStatus.to;
      return { reason: isExpected ? null : 'status', status };
    } catch (error) {
      const reason = stateOf(error);
      return NO_RESULT.has(reason) ? null : { reason, status: null };
    }
  }

  /** The agent confirms that it reached the target. */
  private async connect({ id, clientId, healthCheck }: CheckedHost, target: number): Promise<void> {
    const start = { kind: 'host', id, target, destination: '', visitor: NOBODY, entrance: NOBODY } as const;
    resetStream(await this.options.channels.reach(clientId, start, healthCheck.timeoutMs));
  }

  private note({ host, targets }: Watch): void {
    const down = targets.flatMap(({ state }, index) => (state === 'down' ? [index] : []));
    if (down.length === 0) this.down.delete(host.id);
    else this.down.set(host.id, new Set(down));
  }
}

/** As it is configured. */
export function targetName({ scheme, host, port }: CheckedTarget['target']): string {
  return `${scheme}://${formatHostPort(host, port)}`;
}

function isChecked(host: HostConfig): host is CheckedHost {
  return host.healthCheck !== undefined;
}

function stateAt({ host, targets }: Watch, index: number): CheckedTarget {
  const { scheme = 'http', host: name = '', port = 0 } = host.targets[index] ?? {};
  const { state = 'unknown', last = null, since = null, checkedAt = null } = targets[index] ?? {};
  return {
    hostId: host.id,
    target: { scheme, host: name, port },
    state,
    reason: last?.reason ?? null,
    status: last?.status ?? null,
    since,
    checkedAt,
  };
}

/** What is known about a target stays known when others are added or the check changes. */
function kept(before: Watch | undefined, { scheme, host, port }: HostTarget): TargetHealth {
  const index = before?.host.targets.findIndex(
    (target) => target.scheme === scheme && target.host === host && target.port === port,
  );
  return before?.targets[index ?? -1] ?? new TargetHealth();
}

function isSame(one: CheckedHost, other: CheckedHost): boolean {
  return one.clientId === other.clientId && keyOf(one) === keyOf(other);
}

function keyOf({ targets, healthCheck, rewriteHost, requestHeaders }: CheckedHost): string {
  return JSON.stringify([targets, healthCheck, rewriteHost, requestHeaders]);
}
