import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { HostConfig, HostTarget } from '../config.js';
import { H2cDispatcher } from './h2c-dispatcher.js';
import { Http1Target } from './http1-target.js';
import { targetTag } from './sticky-cookie.js';
import { connectTarget, type ConnectorOptions } from './target-connector.js';

/** How long a failed target is avoided while others work. */
const REST_MS = 5000;
/** Concurrent requests to one target; each has its own connection. */
const MAX_RUNNING = 1024;

export interface UpstreamOptions extends ConnectorOptions {
  /** Milliseconds of a clock that may jump. */
  now: () => number;
  /** From the end of a request to the head of its answer, in milliseconds. */
  answerMs: number;
  /** Targets of a host that its checks found down, by index; null: there are none. */
  downOf(hostId: number): ReadonlySet<number> | null;
}

/** Sends requests to one target, in one version of HTTP. Errors are reported to the handler. */
interface TargetClient {
  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void;
  /** Resolves once the running requests have ended. */
  close(): Promise<void>;
  destroy(): Promise<void>;
}

/** A target and its connections. */
export class Upstream {
  readonly target: HostTarget;
  /** Among the targets of the host. */
  readonly index: number;
  /** Names it in the cookie of a sticky host. */
  readonly tag: string;
  private readonly client: TargetClient;
  private running = 0;
  /** Smooth weighted round-robin: grows by the weight, drops by the sum when chosen. */
  credit = 0;
  failedAt = Number.NEGATIVE_INFINITY;

  constructor(host: HostConfig, index: number, target: HostTarget, options: UpstreamOptions) {
    this.target = target;
    this.index = index;
    this.tag = host.sticky === true ? targetTag(host, target) : '';
    const own = { ...options, connect: (): Promise<Duplex> => connectTarget(host, index, options) };
    this.client = target.scheme === 'h2c' ? new H2cDispatcher(own) : new Http1Target(own);
  }

  get full(): boolean {
    return this.running >= MAX_RUNNING;
  }

  dispatch(request: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.client.dispatch(request, handler);
  }

  /** Returns a function to call once the request is over. */
  acquire(): () => void {
    this.running += 1;
    let open = true;
    return () => {
      if (open) this.running -= 1;
      open = false;
    };
  }

  /** Closes idle connections now, and others after their request. */
  close(): void {
    this.client.close().catch(() => undefined);
  }

  destroy(): void {
    this.client.destroy().catch(() => undefined);
  }
}

/** The targets of one host. */
export class HostUpstreams {
  readonly host: HostConfig;
  private readonly upstreams: Upstream[];
  private readonly now: () => number;
  private readonly downNow: () => ReadonlySet<number> | null;

  constructor(host: HostConfig, options: UpstreamOptions) {
    this.host = host;
    this.now = options.now;
    this.downNow = () => options.downOf(host.id);
    this.upstreams = host.targets.map((target, index) => new Upstream(host, index, target, options));
  }

  /**
   * Picks by weight, preferring those that did not just fail; never one of `tried`, nor one that is down. `tag`: of the one
   * that the visitor had, which it gets again while that works.
   */
  pick(tried: readonly Upstream[], tag: string | null = null): Upstream | null {
    const down = this.downNow();
    const isUsable = (upstream: Upstream): boolean =>
      !upstream.full && !tried.includes(upstream) && !down?.has(upstream.index);
    if (tag !== null) {
      const had = this.upstreams.find((upstream) => upstream.tag === tag && isUsable(upstream));
      if (had && this.now() - had.failedAt >= REST_MS) return had;
    }
    const [only] = this.upstreams;
    if (only && this.upstreams.length === 1) return isUsable(only) ? only : null;
    const untried = this.upstreams.filter(isUsable);
    if (untried.length < 2) return untried[0] ?? null;
    const now = this.now();
    const rested = untried.filter(({ failedAt }) => now - failedAt >= REST_MS);
    const usable = rested.length > 0 ? rested : untried;
    let best: Upstream | null = null;
    let total = 0;
    for (const upstream of usable) {
      upstream.credit += upstream.target.weight;
      total += upstream.target.weight;
      if (!best || upstream.credit > best.credit) best = upstream;
    }
    if (best) best.credit -= total;
    return best;
  }

  hasOther(tried: readonly Upstream[]): boolean {
    const down = this.downNow();
    return this.upstreams.some((upstream) => !upstream.full && !tried.includes(upstream) && !down?.has(upstream.index));
  }

  /** Whether no target may be chosen, because checks found all of them down. */
  get allDown(): boolean {
    return this.downNow()?.size === this.upstreams.length;
  }

  /** Whatever its state. */
  at(index: number): Upstream | null {
    return this.upstreams[index] ?? null;
  }

  failed(upstream: Upstream): void {
    upstream.failedAt = this.now();
  }

  close(): void {
    for (const upstream of this.upstreams) upstream.close();
  }

  destroy(): void {
    for (const upstream of this.upstreams) upstream.destroy();
  }
}

/** The targets of all hosts that have been used. */
export class UpstreamTable {
  private readonly options: UpstreamOptions;
  private readonly table = new Map<number, HostUpstreams>();
  /** The current configuration: a running request may have started with an earlier one. */
  private hosts: ReadonlyMap<number, HostConfig> = new Map();

  constructor(options: UpstreamOptions) {
    this.options = options;
  }

  of(host: HostConfig): HostUpstreams {
    const known = this.table.get(host.id);
    if (known) return known;
    const upstreams = new HostUpstreams(this.hosts.get(host.id) ?? host, this.options);
    this.table.set(host.id, upstreams);
    return upstreams;
  }

  /** Closes the connections of hosts that were removed or have other targets now. */
  apply(hosts: readonly HostConfig[]): void {
    const wanted = new Map(hosts.map((host) => [host.id, host]));
    this.hosts = wanted;
    this.drop((known) => {
      const next = wanted.get(known.id);
      return !next || !sameTargets(known, next);
    });
  }

  /** The client's agent has left or was replaced: connections through it take no new requests. */
  agentLeft(clientId: number): void {
    this.drop((host) => host.clientId === clientId);
  }

  destroy(): void {
    for (const upstreams of this.table.values()) upstreams.destroy();
    this.table.clear();
  }

  private drop(which: (host: HostConfig) => boolean): void {
    for (const [id, upstreams] of this.table) {
      if (!which(upstreams.host)) continue;
      this.table.delete(id);
      upstreams.close();
    }
  }
}

function sameTargets(one: HostConfig, other: HostConfig): boolean {
  if (one.clientId !== other.clientId || one.rewriteHost !== other.rewriteHost) return false;
  if (one.sticky !== other.sticky) return false;
  return JSON.stringify(one.targets) === JSON.stringify(other.targets);
}
