import { FlowFailures, guarded, GuessLimit, processLoad, setFlowTimeout } from '@gatehouse/net';
import { ConnectionTable } from './accounting/connection-table.js';
import { withRealName, type DnsSource } from './dns/index.js';
import { Authenticator } from './authenticator.js';
import { DnsListener } from './dns-listener.js';
import { KernelFlow } from './flow.js';
import { compileGeneration, countChanges, type Generation } from './generation.js';
import {
  KernelConfigError,
  NoSuchWayError,
  type ApplyResult,
  type CloseReason,
  type ConnectionMetadata,
  type ConnectionSnapshot,
  type Dispatcher,
  type Flow,
  type GroupState,
  type HealthReport,
  type InboundContext,
  type KernelConfig,
  type KernelEnvironment,
  type KernelEvents,
  type KernelStatus,
  type KernelTimeouts,
  type ListenerState,
  type OwnServiceConnection,
  type ProxyKernel,
  type ProxyUserConfig,
  type SniffingConfig,
  type TracedDecision,
} from './interfaces/index.js';
import { OwnServiceClients } from './guard/own-service-clients.js';
import { FlowWatch, HealthTracker } from './health/index.js';
import { ListenerSet, type Listener } from './listeners.js';
import { targetFields } from './protocol/stream-session.js';
import { createInbound } from './registry.js';
import {
  NodeSessions,
  UserAccounts,
  explainWishedWay,
  inGroup,
  withoutOtherGroup,
  type WishParts,
} from './users/index.js';
import { withChain } from './way-out.js';

const DEFAULT_TIMEOUTS: KernelTimeouts = {
  handshake: 10_000,
  dial: 10_000,
  idle: 30 * 60_000,
  udpIdle: 60_000,
  drop: 30_000,
  halfClosed: 60_000,
};
const DEFAULT_SNIFFING: SniffingConfig = { ports: [80, 443], timeoutMs: 100 };
const SAMPLE_INTERVAL_MS = 1000;

/** Creates a kernel without listeners; `apply` gives it its first configuration. */
export function createProxyKernel(environment: KernelEnvironment): ProxyKernel {
  return new Kernel(environment);
}

class Kernel implements ProxyKernel, Dispatcher {
  private readonly environment: KernelEnvironment;
  private readonly timeouts: KernelTimeouts;
  private readonly startedAt: number;
  private readonly table: ConnectionTable;
  private readonly listeners: ListenerSet;
  private readonly dnsListener: DnsListener;
  private readonly events = new EventListeners();
  private readonly health: HealthTracker;
  private readonly watch: FlowWatch;
  private readonly wishes: Pick<WishParts, 'health' | 'sessions'>;
  private readonly guesses: GuessLimit;
  private readonly accounts: UserAccounts;
  private readonly ownServiceClients: OwnServiceClients;
  private readonly failures: FlowFailures;
  private readonly sampler: NodeJS.Timeout;
  private generation: Generation | null = null;
  private lastChange: Promise<unknown> = Promise.resolve();
  private closing: Promise<void> | null = null;
  private onDrained: (() => void) | null = null;

  constructor(environment: KernelEnvironment) {
    this.environment = environment;
    this.timeouts = { ...DEFAULT_TIMEOUTS, ...environment.timeouts };
    this.startedAt = environment.now();
    this.failures = new FlowFailures((message, fields) => environment.logger.error(message, fields));
    this.guesses = new GuessLimit(() => environment.now());
    this.accounts = new UserAccounts({ now: () => environment.now(), flows: () => this.table.all() });
    this.ownServiceClients = new OwnServiceClients(() => environment.now());
    this.table = new ConnectionTable(
      () => environment.now(),
      (record) => {
        this.events.emit('closed', record);
        if (this.table.size === 0) this.onDrained?.();
      },
    );
    this.health = new HealthTracker(() => environment.now(), {
      circuit: (change) => this.events.emit('circuit', change),
      changed: (tags) => this.generation?.policies.healthChanged(tags),
    });
    this.watch = new FlowWatch(this.health);
    this.wishes = { health: this.health, sessions: new NodeSessions(() => environment.now()) };
    const { logger, sharesPorts: shared = false } = environment;
    this.listeners = new ListenerSet((listener) => createInbound(this.inboundContext(listener)), shared);
    this.dnsListener = new DnsListener({ source: () => this.dnsSource(), logger, shared });
    this.sampler = setInterval(
      guarded(null, () => this.sample()),
      SAMPLE_INTERVAL_MS,
    );
    this.sampler.unref();
  }

  apply(config: KernelConfig): Promise<ApplyResult> {
    // One at a time, since each is compared with the previous one.
    const applied = this.lastChange.then(() => this.applyNow(structuredClone(config)));
    this.lastChange = applied.catch(() => undefined);
    return applied;
  }

  select(group: string, member: string | null): void {
    if (!this.generation) throw new KernelConfigError(group, 'no configuration is applied');
    this.generation.policies.select(group, member);
  }

  setHealth(testUrl: string | null, report: HealthReport): void {
    this.health.report(testUrl, report);
  }

  groups(): GroupState[] {
    return this.generation?.policies.groups() ?? [];
  }

  connections(): ConnectionSnapshot[] {
    return this.table.snapshots();
  }

  closeConnection(id: string): boolean {
    const entry = this.table.get(id);
    entry?.controls.close('user');
    return entry !== undefined;
  }

  closeConnections(): number {
    return this.closeAll('user');
  }

  clientOf(connection: OwnServiceConnection): string | null {
    return this.ownServiceClients.find(connection);
  }

  async testRoute(flow: ConnectionMetadata): Promise<TracedDecision> {
    if (!this.generation) throw new KernelConfigError('rules', 'no configuration is applied');
    const { router, policies, labels, fakeIps } = this.generation;
    const asked = flow.host === null ? flow : { ...flow, ...targetFields(flow.host, flow.destinationIp) };
    const real = fakeIps ? withRealName(asked, fakeIps) : asked;
    const traced = await router.explain(real);
    try {
      const wished = explainWishedWay(real, traced, { ...this.wishes, groups: policies, labels });
      return withChain({ ...traced, ...wished }, wished?.chain ?? policies.chain(traced.target, real));
    } catch (error) {
      if (!(error instanceof NoSuchWayError)) throw error;
      return { ...withChain(traced, ['REJECT']), refusal: error.message };
    }
  }

  status(): KernelStatus {
    const totals = this.table.totals();
    return {
      generation: this.generation?.number ?? 0,
      configHash: this.generation?.hash ?? null,
      startedAt: this.startedAt,
      listeners: this.listenerStates(),
      activeConnections: this.table.size,
      openedTotal: totals.opened,
      failedTotal: totals.failed,
      failuresByKind: totals.failures,
      rejectedTotal: totals.rejected,
      load: processLoad(),
      uploadTotal: totals.upload,
      downloadTotal: totals.download,
      rssBytes: process.memoryUsage.rss(),
      flowFailuresTotal: this.failures.total,
    };
  }

  on<E extends keyof KernelEvents>(event: E, listener: KernelEvents[E]): void {
    this.events.on(event, listener);
  }

  close(graceMs = 0): Promise<void> {
    this.closing ??= this.closeNow(graceMs);
    return this.closing;
  }

  begin(metadata: ConnectionMetadata, abort: (reason: CloseReason) => void): Flow {
    const { generation, table, timeouts, watch, wishes, accounts, ownServiceClients } = this;
    // Nothing listens before the first generation.
    if (!generation) throw new KernelConfigError('listeners', 'no configuration is applied');
    const real = generation.fakeIps ? withRealName(metadata, generation.fakeIps) : metadata;
    const parts = { table, generation, timeouts, watch, wishes, accounts, ownServiceClients };
    return new KernelFlow({ ...parts, metadata: real, abort });
  }

  private async applyNow(config: KernelConfig): Promise<ApplyResult> {
    if (this.closing) throw new KernelConfigError('kernel', 'the kernel is closing');
    const began = performance.now();
    const previous = this.generation;
    const next = compileGeneration(config, previous, this.environment, this.health);
    const changeUsers = this.accounts.prepare(usersOf(config));
    // At the first configuration a refusal would leave the kernel without any listener.
    const dnsChange = await this.dnsListener.prepare(config.dns?.listen, previous === null);
    const commit = await this.listeners.prepare(config.listeners).catch(async (error: unknown) => {
      await dnsChange.undo();
      throw error;
    });
    this.replaceGeneration(next);
    commit();
    changeUsers();
    dnsChange.commit();
    this.environment.logger.info('configuration applied', { generation: next.number, config_hash: next.hash });
    return {
      generation: next.number,
      previousGeneration: previous?.number ?? 0,
      configHash: next.hash,
      changed: countChanges(previous?.config ?? null, config),
      droppedConnections: 0,
      durationMs: Math.round(performance.now() - began),
      warnings: [...next.policies.warnings, ...next.ruleSets.warnings, ...this.dnsListener.warnings(config.dns)],
      listeners: this.listenerStates(),
    };
  }

  private listenerStates(): ListenerState[] {
    return [...this.listeners.states(), ...this.dnsListener.states()];
  }

  private dnsSource(): DnsSource | null {
    const { names = null, fakeIps = null } = this.generation ?? {};
    return names && { names, fakeIps };
  }

  /** Groups keep their current members unless the configuration says otherwise. */
  private replaceGeneration(next: Generation): void {
    const before = this.generation?.policies.retire() ?? null;
    const { outbounds, groups } = next.config;
    this.generation = next;
    this.health.keepOnly(
      new Set(outbounds.map(({ tag }) => tag)),
      new Set(groups.flatMap(({ testUrl }) => testUrl ?? [])),
    );
    next.policies.takeOver(before, (change) => this.events.emit('switched', change));
  }

  private inboundContext(listener: Listener): InboundContext {
    const sniffing = (): SniffingConfig | false => this.generation?.config.sniffing ?? DEFAULT_SNIFFING;
    let users: KernelConfig['listeners'][number]['users'];
    const { logger } = this.environment;
    let authenticator = new Authenticator([], this.guesses, logger);
    const current = (): Authenticator => {
      if (listener.config.users !== users) {
        users = listener.config.users;
        authenticator = new Authenticator(users ?? [], this.guesses, logger);
      }
      return authenticator;
    };
    return {
      dispatcher: { begin: (metadata, abort) => this.begin(inGroup(metadata, listener.config.group), abort) },
      timeouts: this.timeouts,
      logger,
      get config() {
        return listener.config;
      },
      get port() {
        return listener.port;
      },
      get sniffing() {
        return sniffing();
      },
      get requiresAuth() {
        return current().required;
      },
      authenticate: (username, password, address) =>
        withoutOtherGroup(current().check(username, password, address), listener.config.group),
    };
  }

  private sample(): void {
    const delta = this.table.sample();
    if (delta) this.events.emit('traffic', delta);
    this.accounts.endExpired();
    this.watch.settle();
    this.health.settle();
    this.generation?.policies.recheck();
  }

  private closeAll(reason: CloseReason): number {
    const entries = this.table.all();
    for (const { controls } of entries) controls.close(reason);
    return entries.length;
  }

  private async closeNow(graceMs: number): Promise<void> {
    await this.lastChange;
    this.listeners.stop();
    await this.dnsListener.stop();
    if (graceMs > 0) await this.drained(graceMs);
    this.closeAll('shutdown');
    this.listeners.destroyConnections();
    await this.drained(CLOSE_LIMIT_MS);
    clearInterval(this.sampler);
    this.failures.stop();
    this.sample();
    for (const outbound of this.generation?.outbounds.values() ?? []) outbound.close?.();
  }

  private drained(limitMs: number): Promise<void> {
    if (this.table.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.onDrained = null;
        resolve();
      };
      const timer = setFlowTimeout(null, done, limitMs);
      this.onDrained = done;
    });
  }
}

/** The users of all listeners; one of several has the same limits at each. */
function usersOf({ listeners }: KernelConfig): ProxyUserConfig[] {
  const byName = new Map(listeners.flatMap(({ users = [] }) => users.map((user) => [user.username, user])));
  return [...byName.values()];
}

/** Destroyed sockets emit `close` within a turn; this bounds the wait in case one does not. */
const CLOSE_LIMIT_MS = 1000;

/** The listeners of a kernel's events. */
class EventListeners {
  readonly #listeners: { [E in keyof KernelEvents]: KernelEvents[E][] } = {
    closed: [],
    traffic: [],
    switched: [],
    circuit: [],
  };

  on<E extends keyof KernelEvents>(event: E, listener: KernelEvents[E]): void {
    this.#listeners[event].push(listener);
  }

  emit<E extends keyof KernelEvents>(event: E, value: Parameters<KernelEvents[E]>[0]): void {
    for (const listener of this.#listeners[event]) (listener as (value: Parameters<KernelEvents[E]>[0]) => void)(value);
  }
}
