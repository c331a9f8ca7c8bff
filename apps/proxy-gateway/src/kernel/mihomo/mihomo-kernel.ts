import { createHash } from 'node:crypto';
import { freePort, guardPromise } from '@gatehouse/net';
import {
  compileRouter,
  compileRuleSets,
  countChanges,
  createPolicyTable,
  KernelConfigError,
} from '@gatehouse/proxy-kernel';
import type {
  ApplyResult,
  ConnectionMetadata,
  ConnectionSnapshot,
  GroupState,
  HealthReport,
  KernelConfig,
  KernelEnvironment,
  KernelEvents,
  KernelStatus,
  ListenerState,
  ProxyKernel,
  Router,
  SelectablePolicyTable,
  TracedDecision,
} from '@gatehouse/proxy-kernel';
import { MihomoRefusal } from './mihomo-api.js';
import type { MihomoApi, MihomoGroup } from './mihomo-api.js';
import { DNS_LISTENER, toMihomoConfig } from './mihomo-config.js';
import { MihomoConnectionWatch } from './mihomo-connections.js';
import { ownServiceRules } from './own-service-rules.js';

const LOOK_INTERVAL_MS = 500;

export interface MihomoHandle {
  readonly api: MihomoApi;
  readonly socket: string;
  stop(): Promise<void>;
}

/**
 * A kernel that drives a mihomo process over its controller. It supports what the embedded kernel does not (REALITY,
 * QUIC, WireGuard). Groups follow mihomo's own measurements, and less is known about finished flows.
 */
export class MihomoKernel implements ProxyKernel {
  readonly #mihomo: MihomoHandle;
  readonly #version: string;
  readonly #environment: KernelEnvironment;
  readonly #watch = new MihomoConnectionWatch();
  readonly #listeners: { [E in keyof KernelEvents]: KernelEvents[E][] } = {
    closed: [],
    traffic: [],
    switched: [],
    circuit: [],
  };
  readonly #ports = new Map<string, number>();
  readonly #startedAt: number;
  #config: KernelConfig | null = null;
  /** Created on first use, for the present configuration. */
  #route: { policies: SelectablePolicyTable; router: Router } | null = null;
  #hash: string | null = null;
  #generation = 0;
  #groups: GroupState[] = [];
  #lastChange: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;
  #closing: Promise<void> | null = null;

  constructor(mihomo: MihomoHandle, environment: KernelEnvironment, version: string) {
    this.#version = version;
    this.#mihomo = mihomo;
    this.#environment = environment;
    this.#startedAt = environment.now();
    this.#lookAgain();
  }

  apply(config: KernelConfig): Promise<ApplyResult> {
    return this.#inTurn(() => this.#applyNow(structuredClone(config)));
  }

  select(group: string, member: string | null): void {
    const state = this.#groups.find(({ name }) => name === group);
    if (!state) throw new KernelConfigError(group, 'no such group');
    if (state.type === 'load-balance') throw new KernelConfigError(group, 'a load-balance group takes no choice');
    if (member !== null && !state.members.includes(member)) {
      throw new KernelConfigError(group, `${member} is not a member of this group`);
    }
    void this.#inTurn(() => this.#selectNow(state, member)).catch((error: unknown) =>
      this.#environment.logger.error('mihomo did not accept a choice', { group, error: String(error) }),
    );
  }

  /** Ignored: mihomo measures on its own. */
  setHealth(_testUrl: string | null, _report: HealthReport): void {}

  groups(): GroupState[] {
    return this.#groups;
  }

  connections(): ConnectionSnapshot[] {
    return this.#watch.snapshots;
  }

  closeConnection(id: string): boolean {
    if (!this.#watch.has(id)) return false;
    this.#watch.closing(id);
    void this.#mihomo.api.closeConnection(id).catch((error: unknown) => this.#complain(error));
    return true;
  }

  /** Always null: with mihomo no rule lets clients reach our own services. */
  clientOf(): null {
    return null;
  }

  closeConnections(): number {
    const open = this.#watch.snapshots;
    for (const { id } of open) this.#watch.closing(id);
    void this.#mihomo.api.closeConnections().catch((error: unknown) => this.#complain(error));
    return open.length;
  }

  /** Decided by our own router with the same rules and mihomo's present choices, since mihomo has no call for this. */
  testRoute(flow: ConnectionMetadata): Promise<TracedDecision> {
    if (!this.#config) return Promise.reject(new KernelConfigError('rules', 'no configuration is applied'));
    this.#route ??= this.#compile(this.#config);
    const { policies, router } = this.#route;
    for (const { name, type, now } of this.#groups) {
      if (type !== 'load-balance' && now !== null) policies.select(name, now);
    }
    return router.explain(flow);
  }

  status(): KernelStatus {
    const { upload, download, opened, active } = this.#watch.totals;
    return {
      generation: this.#generation,
      configHash: this.#hash,
      startedAt: this.#startedAt,
      listeners: this.#listenerStates(),
      activeConnections: active,
      openedTotal: opened,
      failedTotal: 0,
      uploadTotal: upload,
      downloadTotal: download,
      rssBytes: process.memoryUsage.rss(),
      flowFailuresTotal: 0,
      programVersion: this.#version,
    };
  }

  on<E extends keyof KernelEvents>(event: E, listener: KernelEvents[E]): void {
    this.#listeners[event].push(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#closeNow();
    return this.#closing;
  }

  #compile(config: KernelConfig): { policies: SelectablePolicyTable; router: Router } {
    const outbounds = new Map(config.outbounds.map(({ tag, node }) => [tag, { udp: node.udp ?? true }]));
    const policies = createPolicyTable(outbounds, config.groups);
    const { resolver, country, asn } = this.#environment;
    const { rules, mode, defaultPolicy, ruleSets = [] } = config;
    const compiled = compileRuleSets(ruleSets);
    const parts = { rules, mode, defaultPolicy, policies, resolver, country, ruleSets: compiled };
    return { policies, router: compileRouter({ ...parts, ...(asn ? { asn } : {}) }) };
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastChange.then(work);
    this.#lastChange = done.catch(() => undefined);
    return done;
  }

  async #applyNow(config: KernelConfig): Promise<ApplyResult> {
    const began = performance.now();
    for (const { name, port, address } of listenersOf(config)) {
      if (port === 0 && !this.#ports.has(name)) this.#ports.set(name, await freePort(address));
    }
    await this.#load(config);
    const previous = this.#config;
    this.#config = config;
    this.#route = null;
    this.#generation += 1;
    this.#hash = createHash('sha256').update(JSON.stringify(config)).digest('hex');
    this.#watch.setRules(config.mode === 'rule' ? config.rules : []);
    for (const { name, selected } of config.groups) {
      if (selected !== undefined) await this.#mihomo.api.select(name, selected);
    }
    await this.#readGroups();
    return {
      generation: this.#generation,
      previousGeneration: this.#generation - 1,
      configHash: this.#hash,
      changed: countChanges(previous, config),
      droppedConnections: 0,
      durationMs: Math.round(performance.now() - began),
      warnings: [],
      listeners: this.#listenerStates(),
    };
  }

  async #load(config: KernelConfig): Promise<void> {
    try {
      const guards = await ownServiceRules(config.guard, this.#environment.resolver);
      await this.#mihomo.api.load(toMihomoConfig(config, { socket: this.#mihomo.socket, ports: this.#ports, guards }));
    } catch (error) {
      if (error instanceof MihomoRefusal) throw new KernelConfigError('mihomo', error.message);
      throw error;
    }
  }

  async #selectNow({ name, type }: GroupState, member: string | null): Promise<void> {
    const target =
      member ?? (type === 'select' ? (this.#config?.groups.find((g) => g.name === name)?.members[0] ?? null) : null);
    if (target === null) await this.#mihomo.api.unfix(name);
    else await this.#mihomo.api.select(name, target);
    await this.#readGroups();
  }

  async #readGroups(): Promise<void> {
    const { proxies } = await this.#mihomo.api.proxies();
    const before = new Map(this.#groups.map((group) => [group.name, group]));
    this.#groups = (this.#config?.groups ?? []).map((config) => toState(config, proxies[config.name]));
    for (const { name, now, fixed } of this.#groups) {
      const from = before.get(name)?.now;
      if (from === undefined || from === now) continue;
      const reason = fixed ? 'manual' : 'faster';
      for (const listener of this.#listeners.switched) {
        listener({ at: this.#environment.now(), group: name, from, to: now, reason });
      }
    }
  }

  /** mihomo logs a port that it cannot bind, but offers no call to ask for it. */
  #listenerStates(): ListenerState[] {
    return listenersOf(this.#config).map(({ name, type, address, port }) => ({
      name,
      type,
      address,
      port: port === 0 ? (this.#ports.get(name) ?? 0) : port,
      state: 'listening',
      error: null,
    }));
  }

  #lookAgain(): void {
    this.#timer = setTimeout(() => {
      const looked = this.#look().finally(() => {
        if (!this.#closing) this.#lookAgain();
      });
      guardPromise(null, looked);
    }, LOOK_INTERVAL_MS);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    try {
      this.#report(await this.#mihomo.api.connections());
      if (this.#config?.groups.some(({ type }) => type !== 'select')) await this.#readGroups();
    } catch (error) {
      if (!this.#closing) this.#complain(error);
    }
  }

  #report(list: Awaited<ReturnType<MihomoApi['connections']>>): void {
    const { closed, delta } = this.#watch.observe(list, this.#environment.now());
    for (const record of closed) for (const listener of this.#listeners.closed) listener(record);
    if (delta) for (const listener of this.#listeners.traffic) listener(delta);
  }

  #complain(error: unknown): void {
    this.#environment.logger.warn('mihomo did not answer', { error: String(error) });
  }

  async #closeNow(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    await this.#lastChange;
    await this.#look();
    for (const { id } of this.#watch.snapshots) this.#watch.closing(id);
    this.#report({
      uploadTotal: this.#watch.totals.upload,
      downloadTotal: this.#watch.totals.download,
      connections: null,
    });
    await this.#mihomo.stop();
  }
}

function toState({ name, type, members }: KernelConfig['groups'][number], group: MihomoGroup | undefined): GroupState {
  const now = type === 'load-balance' || members.length === 0 ? null : (group?.now ?? null);
  const fixed = type === 'select' || (group?.fixed !== undefined && group.fixed !== '');
  return { name, type, members, now, fixed };
}

/** mihomo cannot report a port that the system chose, so a port that is free now is chosen for it. */
/** All listeners, including the one for DNS. */
function listenersOf(config: KernelConfig | null): { name: string; type: string; address: string; port: number }[] {
  const dns = config?.dns?.listen;
  return [...(config?.listeners ?? []), ...(dns ? [{ name: DNS_LISTENER, type: DNS_LISTENER, ...dns }] : [])];
}
