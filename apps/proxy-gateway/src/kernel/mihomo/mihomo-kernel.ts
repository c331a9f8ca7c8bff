import { createHash } from 'node:crypto';
import { freePort, guardPromise } from '@gatehouse/net';
import { countChanges, KernelConfigError } from '@gatehouse/proxy-kernel';
import type {
  ApplyResult,
  ConnectionMetadata,
  ConnectionSnapshot,
  GroupState,
  HealthReport,
  KernelConfig,
  KernelEnvironment,
  KernelEvents,
  KernelProbe,
  KernelStatus,
  ListenerState,
  ProbeResult,
  ProxyKernel,
  RefusedRule,
  RuleConfig,
  TracedDecision,
} from '@gatehouse/proxy-kernel';
import type { MihomoApi } from './mihomo-api.js';
import { MihomoConnectionWatch } from './mihomo-connections.js';
import { readFlow, readLogLine, type LogLine } from './mihomo-flow-log.js';
import { loadConfig, refusedRules, type LoadedConfig } from './mihomo-load.js';
import { probeAlone, probeLoaded, type OtherMihomo } from './mihomo-probe.js';
import { MihomoRoutes } from './mihomo-routes.js';
import type { GeoPrefixes, MihomoRules } from './mihomo-rules.js';
import { listenersOf, toState } from './mihomo-states.js';
import { ownServiceRules } from './own-service-rules.js';

const LOOK_INTERVAL_MS = 500;

export interface MihomoHandle {
  readonly api: MihomoApi;
  readonly socket: string;
  onLine(listener: (line: string) => void): void;
  check(config: object): Promise<string | null>;
  another(): OtherMihomo;
  stop(): Promise<void>;
}

/** `prefixes` absent: rules for countries and autonomous systems match nothing. */
export type MihomoEnvironment = KernelEnvironment & { prefixes?: GeoPrefixes };

/**
 * A kernel that drives a mihomo process over its controller. It supports what the embedded kernel does not (REALITY,
 * QUIC, WireGuard). Groups follow mihomo's own measurements, and less is known about finished flows.
 */
export class MihomoKernel implements ProxyKernel {
  readonly #mihomo: MihomoHandle;
  readonly #version: string;
  readonly #environment: MihomoEnvironment;
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
  #routes: MihomoRoutes | null = null;
  #hash: string | null = null;
  #guards: readonly string[] = [];
  #generation = 0;
  #groups: GroupState[] = [];
  #lastChange: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | null = null;
  #closing: Promise<void> | null = null;

  constructor(mihomo: MihomoHandle, environment: MihomoEnvironment, version: string) {
    this.#version = version;
    this.#mihomo = mihomo;
    this.#environment = environment;
    this.#startedAt = environment.now();
    mihomo.onLine((line) => this.#onLine(readLogLine(line)));
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

  async refusedRules(rules: readonly RuleConfig[]): Promise<RefusedRule[]> {
    const refused = await refusedRules(rules, this.#config?.ruleSets, (config) => this.#mihomo.check(config));
    return [...refused].map(([index, reason]) => ({ index, reason: `mihomo ${this.#version}: ${reason}` }));
  }

  probe(probe: KernelProbe): Promise<ProbeResult> {
    const now = (): number => this.#environment.now();
    const isLoaded = this.#config?.outbounds.some(({ tag }) => tag === probe.tag) === true;
    return isLoaded ? probeLoaded(this.#mihomo.api, probe, now) : probeAlone(this.#mihomo.another(), probe, now);
  }

  /** mihomo has the prefixes of the databases, so it gets the configuration again. */
  databasesChanged(): void {
    const reload = async (): Promise<void> => {
      if (this.#config === null || this.#closing) return;
      await this.#nameRules(this.#config, (await this.#load(this.#config)).rules);
    };
    void this.#inTurn(reload).catch((error: unknown) => this.#complain(error));
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

  testRoute(flow: ConnectionMetadata): Promise<TracedDecision> {
    if (!this.#config) return Promise.reject(new KernelConfigError('rules', 'no configuration is applied'));
    this.#routes ??= new MihomoRoutes(this.#config, this.#environment);
    return this.#routes.explain(flow, this.#groups);
  }

  status(): KernelStatus {
    const { upload, download, opened, active, failed, rejected } = this.#watch.totals;
    return {
      generation: this.#generation,
      configHash: this.#hash,
      startedAt: this.#startedAt,
      listeners: this.#listenerStates(),
      activeConnections: active,
      openedTotal: opened,
      failedTotal: failed,
      rejectedTotal: rejected,
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
    const { rules, warnings } = await this.#load(config);
    const previous = this.#config;
    if (hasUsers(config) && !hasUsers(previous)) {
      this.#environment.logger.warn(`mihomo ${this.#version} reads no wishes in user names: it refuses such logins`);
    }
    this.#config = config;
    this.#routes = null;
    this.#generation += 1;
    this.#hash = createHash('sha256').update(JSON.stringify(config)).digest('hex');
    await this.#nameRules(config, rules);
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
      warnings,
      listeners: this.#listenerStates(),
    };
  }

  async #load(config: KernelConfig): Promise<LoadedConfig> {
    const { resolver, prefixes, logger } = this.#environment;
    this.#guards = await ownServiceRules(config.guard, resolver);
    const { socket, api } = this.#mihomo;
    const control = { socket, ports: this.#ports, guards: this.#guards, geo: prefixes };
    const loaded = await loadConfig(config, control, (wanted) => api.load(wanted));
    for (const warning of loaded.warnings) logger.warn(`mihomo ${this.#version} does not take everything`, { warning });
    return loaded;
  }

  /** Flows are attributed by the form in which mihomo lists the rules. */
  async #nameRules(config: KernelConfig, { rules }: MihomoRules): Promise<void> {
    const listed = await this.#mihomo.api.rules();
    const positions = new Map(config.rules.map((rule, index) => [rule, index]));
    const named = rules.flatMap((rule, at) => {
      const seen = listed[this.#guards.length + at];
      const { id, source, type, payload, target } = rule;
      const matched = { id, index: positions.get(rule) ?? at, source, type, payload, target };
      return seen ? [[seen, matched] as const] : [];
    });
    this.#watch.setRules(named);
  }

  #onLine({ level, message }: LogLine): void {
    const { logger } = this.#environment;
    const flow = readFlow(message);
    if (flow) return this.#watch.note(flow, this.#environment.now());
    const fields = { text: message.slice(0, 1_000) };
    if (level === 'error' || level === 'fatal') logger.error('mihomo says', fields);
    else if (level === 'warning') logger.warn('mihomo says', fields);
    else logger.debug('mihomo says', fields);
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
      const lookedAt = this.#environment.now();
      this.#report(await this.#mihomo.api.connections(), lookedAt);
      if (this.#config?.groups.some(({ type }) => type !== 'select')) await this.#readGroups();
    } catch (error) {
      if (!this.#closing) this.#complain(error);
    }
  }

  #report(list: Awaited<ReturnType<MihomoApi['connections']>>, lookedAt: number): void {
    const { closed, delta } = this.#watch.observe(list, lookedAt, this.#environment.now());
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
    const { upload, download } = this.#watch.totals;
    this.#report({ uploadTotal: upload, downloadTotal: download, connections: null }, Infinity);
    await this.#mihomo.stop();
  }
}

function hasUsers(config: KernelConfig | null): boolean {
  return config?.listeners.some(({ users = [] }) => users.length > 0) === true;
}
