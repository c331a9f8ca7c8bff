import { SYSTEM_CLOCK } from '@gatehouse/child';
import { guardPromise } from '@gatehouse/net';
import type { KernelState, KernelStatusView } from '@gatehouse/contracts';
import { PgListener } from '@gatehouse/persistence';
import { KernelConfigError } from '@gatehouse/proxy-kernel';
import type {
  ApplyResult,
  CircuitChanged,
  ConnectionMetadata,
  ConnectionSnapshot,
  GroupSwitched,
  HealthReport,
  KernelConfig,
  KernelStatus,
  OwnServiceConnection,
  TracedDecision,
  TrafficDelta,
} from '@gatehouse/proxy-kernel';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { KERNEL_CONFIG_CHANNEL, ONLY_SELECTIONS } from '../kernel-config-channel.js';
import { CountryGroups } from '../kernel-config/country-groups.js';
import { Preferences } from '../preferences/preferences.service.js';
import type { KernelConfigRows, MappedConfig } from '../kernel-config/kernel-config.mapper.js';
import { KernelConfigSource } from '../kernel-config/kernel-config.source.js';
import { KernelConfigurator } from './kernel-configurator.js';
import type { CloseFilter, GroupInUse, KernelCalls, KernelMethod, TagUsage } from '../common/kernel-ipc.js';
import type { KernelProgramName } from '../kernel-config/kernel-mode.js';
import { KernelEvents, type KernelRecords, type Listener } from './kernel-events.js';
import { KernelLauncher } from './kernel-launcher.js';
import { KernelProcess } from './kernel-process.js';
import { describeKernel } from './kernel.view.js';
import { LostSelections } from '../kernel-config/lost-selections.js';
import type { SpoolRange } from '../common/spool-range.js';
import { explainFirstFailure, KernelUnavailableError, kernelUnavailable, toAppError } from './kernel-errors.js';

/** Changes within this time make one reload. */
const DEBOUNCE_MS = 50;
/** A refused configuration is tried again: a port may become free, or a database come back. */
const RETRY_MS = 2_000;
const FIRST_APPLY_MS = 5_000;
/** Reloads this often in case a notification was missed; an unchanged configuration is not applied again. */
const RENEW_MS = 300_000;
const SHUTDOWN_GRACE_MS = 500;
/** Short, since a request waits for this answer. */
const CLIENT_OF_MS = 2_000;

/** The kernel of this process: keeps it in line with the database and answers questions about it. */
@Injectable()
export class KernelService implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Kernel');
  private readonly process: KernelProcess;
  private readonly configurator: KernelConfigurator;
  private readonly events = new KernelEvents(this.logger);
  private readonly startListeners = new Set<() => void | Promise<void>>();
  private readonly endings: (() => void | Promise<void>)[] = [];
  private readonly firstApply = Promise.withResolvers<void>();
  private due: NodeJS.Timeout | null = null;
  private reported: string | null = null;
  /** Why the connection to a separate kernel was last lost. */
  private lost: string | null = null;
  /** The running kernel has not received a configuration yet. */
  private isNew = false;
  private stopping = false;
  /** Whether the kernel is separate: its connections may come from another machine. */
  readonly runsElsewhere: boolean;

  constructor(
    private readonly source: KernelConfigSource,
    private readonly countryGroups: CountryGroups,
    launcher: KernelLauncher,
    private readonly lostSelections: LostSelections,
    private readonly listener: PgListener,
    private readonly preferences: Preferences,
  ) {
    this.runsElsewhere = launcher.leavesKernelRunning;
    this.process = new KernelProcess({
      fork: () => launcher.launch(source.mode.get(), source.mode.executable),
      clock: SYSTEM_CLOCK,
      leaveRunning: this.runsElsewhere,
      onReady: () => guardPromise(null, this.configureNew()),
      onEvents: (batch) => this.events.receive(batch),
      onUnstored: (spools) => this.events.unstored.emit(spools),
      onExit: (reason) => this.kernelLost(reason),
    });
    this.configurator = new KernelConfigurator(
      this.process,
      { whole: () => this.load(), selections: () => source.loadSelections() },
      (mapped) => this.onApplied(mapped),
    );
  }

  /**
   * Waits until the first configuration is applied, so that a service that is ready also carries traffic.
   * @throws StartError when the port from the environment is taken.
   */
  async onApplicationBootstrap(): Promise<void> {
    const renew = (): void => this.syncIn(DEBOUNCE_MS);
    const onNotice = (payload: string): void => (payload === ONLY_SELECTIONS ? void this.syncSelections() : renew());
    this.endings.push(await this.listener.listen(KERNEL_CONFIG_CHANNEL, onNotice, renew, { renewMs: RENEW_MS }));
    this.endings.push(this.preferences.onChange(renew));
    this.source.onListening(renew);
    this.process.start();
    // The state shows a kernel that cannot start; the management API must not wait for it for ever.
    const cancel = SYSTEM_CLOCK.after(FIRST_APPLY_MS, () => this.firstApply.resolve());
    await this.firstApply.promise;
    cancel();
    const portIsFromSettings = this.preferences.get('kernel.listen.mixed') !== null;
    const refusal = explainFirstFailure(this.configurator.failure, portIsFromSettings);
    if (refusal) throw refusal;
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    if (this.due) clearTimeout(this.due);
    for (const end of this.endings.splice(0)) await end();
    await this.process.stop(SHUTDOWN_GRACE_MS);
  }

  /** Batches of records to store: each flow once, at its end, and the traffic of each second. */
  onRecords(listener: Listener<KernelRecords>): void {
    this.events.records.add(listener);
  }

  /** The kernel holds records of these spools and waits for `resumeRecords`. */
  onUnstored(listener: Listener<readonly string[]>): void {
    this.events.unstored.add(listener);
  }

  /** Lets the kernel delete records that are in the database. A kernel that misses this asks at its next start. */
  async storedRecords(ranges: readonly SpoolRange[]): Promise<void> {
    await this.process.request('stored', ranges).catch(() => undefined);
  }

  /**
   * Makes the kernel send the records it still holds, and those in `lost`, except the stored ones. @throws
   * KernelUnavailableError
   */
  async resumeRecords(stored: readonly SpoolRange[], lost: readonly SpoolRange[]): Promise<void> {
    await this.process.request('resume', { stored, lost });
  }

  /** The traffic of the last second, while there is any. */
  onTraffic(listener: Listener<TrafficDelta>): void {
    this.events.traffic.add(listener);
  }

  /** Groups that switched to another member, by a choice or on their own. */
  onSwitched(listener: Listener<GroupSwitched>): void {
    this.events.switches.add(listener);
  }

  /** Nodes that failed too often in a row, or work again after that. */
  onCircuit(listener: Listener<CircuitChanged>): void {
    this.events.circuits.add(listener);
  }

  /** A kernel has just started and received its first configuration, but nothing else that its predecessor knew. */
  onStarted(listener: () => void | Promise<void>): void {
    this.startListeners.add(listener);
  }

  /**
   * Applies the database's present state to the kernel, and waits for that; does nothing if it is already applied. A
   * kernel that is down or an invalid configuration is logged and shown in the status, not thrown: the change itself is
   * stored, and the kernel gets it as soon as possible.
   */
  async sync(): Promise<void> {
    try {
      await this.configurator.refresh();
      this.reported = null;
    } catch (error) {
      this.report(error);
      this.syncIn(RETRY_MS);
    }
  }

  /** Like `sync`, for changes of selections in groups only. */
  async syncSelections(): Promise<void> {
    try {
      await this.configurator.refreshSelections();
    } catch (error) {
      this.report(error);
      this.syncIn(RETRY_MS);
    }
  }

  /**
   * Like `sync`, whether or not anything has changed.
   * @throws AppError KERNEL_UNAVAILABLE; UNPROCESSABLE for an invalid configuration: the previous generation stays.
   */
  async reload(): Promise<ApplyResult> {
    const result = await this.translated(this.configurator.force());
    if (!result) throw kernelUnavailable();
    return result;
  }

  /** @throws AppError KERNEL_UNAVAILABLE, like all methods below. */
  connections(): Promise<ConnectionSnapshot[]> {
    return this.ask('connections', null);
  }

  closeConnection(id: string): Promise<boolean> {
    return this.ask('closeConnection', { id });
  }

  closeConnections(filter: CloseFilter = {}): Promise<number> {
    return this.ask('closeConnections', filter);
  }

  /** Sends measurements to the kernel, by node tag; `testUrl` is null for the general address. */
  async setHealth(testUrl: string | null, report: HealthReport): Promise<void> {
    await this.ask('setHealth', { testUrl, report });
  }

  /** The member that each group uses at the moment, without the list of members. */
  groupsInUse(): Promise<GroupInUse[]> {
    return this.ask('groupsInUse', null);
  }

  /** The number and the bytes of open connections for each group, node and built-in. */
  usage(): Promise<Record<string, TagUsage>> {
    return this.ask('usage', null);
  }

  /**
   * The client of the proxy behind a connection to this service; null if the connection is not the kernel's, or no
   * kernel runs. @throws AppError KERNEL_UNAVAILABLE when it does not answer.
   */
  async clientOf(connection: OwnServiceConnection): Promise<string | null> {
    if (this.process.state !== 'running') return null;
    return this.translated(this.process.request('clientOf', connection, CLIENT_OF_MS));
  }

  /** The addresses of the machine that the kernel runs on; undefined from a kernel of an older version. */
  addresses(): Promise<readonly string[] | undefined> {
    return this.ask('addresses', null);
  }

  testRoute(flow: ConnectionMetadata): Promise<TracedDecision> {
    return this.ask('testRoute', flow);
  }

  /** Sets the databases for rules. A kernel that restarts needs this call again. */
  async reloadGeo(paths: KernelCalls['reloadGeo']['params']): Promise<void> {
    await this.process.request('reloadGeo', paths);
  }

  status(): Promise<KernelStatus> {
    return this.ask('status', null);
  }

  get program(): KernelProgramName {
    return this.source.mode.get();
  }

  get state(): KernelState {
    return this.configurator.state;
  }

  /** Called at a scrape, which a kernel that does not answer must not delay. */
  async flowFailures(): Promise<number> {
    return (await this.process.request('status', null, 1_000)).flowFailuresTotal;
  }

  /** What the kernel says at once; null if it does not answer. */
  liveStatus(): Promise<KernelStatus | null> {
    return this.process.request('status', null, 1_000).catch(() => null);
  }

  /** The configuration that the kernel received last; null before the first. */
  get config(): KernelConfig | null {
    return this.configurator.applied?.config ?? null;
  }

  /** The applied configuration and what could not be applied; null while it differs from the database. */
  get applied(): MappedConfig | null {
    return this.configurator.failure === null ? this.configurator.applied : null;
  }

  /** The state of the kernel with the facts that are available; never rejects. */
  async describe(version: string): Promise<{ view: KernelStatusView; live: KernelStatus | null }> {
    const live = await this.liveStatus();
    return { view: describeKernel(this.process, this.configurator, { live, version, type: this.program }), live };
  }

  private async load(): Promise<KernelConfigRows> {
    const rows = await this.source.load();
    return (await this.countryGroups.reconcile(rows)) ? this.source.load() : rows;
  }

  private syncIn(ms: number): void {
    if (this.stopping) return;
    this.due ??= setTimeout(() => {
      this.due = null;
      guardPromise(null, this.sync());
    }, ms);
  }

  private async configureNew(): Promise<void> {
    this.lost = null;
    this.configurator.forget();
    this.isNew = true;
    await this.sync();
    this.firstApply.resolve();
  }

  /** Reconnecting to a separate kernel is tried without end; it is logged once. */
  private kernelLost(reason: string): void {
    if (!this.runsElsewhere) this.logger.warn(`The kernel ended (${reason}); another is started`);
    else if (reason !== this.lost) this.logger.warn(`${reason}; trying again`);
    this.lost = reason;
  }

  private async onApplied(mapped: MappedConfig): Promise<void> {
    if (this.isNew) this.notifyStarted();
    const switched = await this.lostSelections.record(mapped);
    const choice = this.preferences.get('switch.close_connections');
    if (switched.length === 0 || choice === 'none') return;
    const filters = choice === 'all' ? [{}] : switched.map(({ group, lostTag: member }) => ({ group, member }));
    for (const filter of filters) await this.process.request('closeConnections', filter);
  }

  private notifyStarted(): void {
    this.isNew = false;
    for (const listener of this.startListeners) {
      void (async () => listener())().catch((error: unknown) =>
        this.logger.warn(
          `A new kernel did not receive everything: ${error instanceof Error ? error.message : 'failed'}`,
        ),
      );
    }
  }

  /** Logs each reason once, however often the attempt is repeated. */
  private report(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof KernelUnavailableError || message === this.reported) return;
    this.reported = message;
    this.logger.error(`The configuration was not applied: ${message}`);
  }

  private ask<M extends KernelMethod>(method: M, params: KernelCalls[M]['params']): Promise<KernelCalls[M]['result']> {
    return this.translated(this.process.request(method, params));
  }

  private async translated<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof KernelConfigError) this.report(error);
      throw toAppError(error);
    }
  }
}
