import { guardPromise } from '@gatehouse/net';
import type { KernelState, KernelStatusView } from '@gatehouse/contracts';
import { PgListener } from '@gatehouse/persistence';
import { KernelConfigError } from '@gatehouse/proxy-kernel';
import type { ApplyResult, CircuitChanged, GroupSwitched, KernelConfig, KernelStatus } from '@gatehouse/proxy-kernel';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { KERNEL_CONFIG_CHANNEL, ONLY_SELECTIONS } from '../kernel-config-channel.js';
import { CountryGroups } from '../kernel-config/country-groups.js';
import { Preferences } from '../preferences/preferences.service.js';
import type { KernelConfigRows, MappedConfig } from '../kernel-config/kernel-config.mapper.js';
import { KernelConfigSource } from '../kernel-config/kernel-config.source.js';
import { sharedInTurn, within } from './coalesce.js';
import type { RefusedListener } from '../common/kernel-figures.js';
import type { LiveTraffic } from '../common/kernel-ipc.js';
import type { KernelProgramName } from '../kernel-config/kernel-mode.js';
import { kernelWorkers } from '../kernel-config/kernel-workers.js';
import { KernelAnswers } from './kernel-answers.js';
import { KernelEvents, type KernelOrigin, type KernelRecords, type Listener } from './kernel-events.js';
import { KernelFleet } from './kernel-fleet.js';
import { KernelLauncher } from './kernel-launcher.js';
import { KernelMember } from './kernel-member.js';
import { describeKernel } from './kernel.view.js';
import { LostSelections } from '../kernel-config/lost-selections.js';
import { explainFirstFailure, KernelUnavailableError, kernelUnavailable, toAppError } from './kernel-errors.js';
import { stateOf } from './fleet-state.js';

/** Changes within this time make one reload. */
const DEBOUNCE_MS = 50;
/** A refused configuration is tried again: a port may become free, or a database come back. */
const RETRY_MS = 2_000;
const FIRST_APPLY_MS = 5_000;
/** Reloads this often in case a notification was missed; an unchanged configuration is not applied again. */
const RENEW_MS = 300_000;
const SHUTDOWN_GRACE_MS = 500;
/** A change waits this long for a kernel that does not answer, if another kernel has it. */
const LAGGARD_MS = 3_000;

type StartListener = (kernel?: KernelOrigin) => void | Promise<void>;

/** What one kernel did with a reload. */
export interface KernelReload {
  kernel: KernelMember;
  result: ApplyResult;
}

/** The kernels of this process: keeps them in line with the database and answers questions about them. */
@Injectable()
export class KernelService extends KernelAnswers implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Kernel');
  protected readonly fleet: KernelFleet;
  private readonly events = new KernelEvents(this.logger);
  private readonly startListeners = new Set<StartListener>();
  private readonly endings: (() => void | Promise<void>)[] = [];
  private readonly firstApply = Promise.withResolvers<void>();
  private readonly readWhole = sharedInTurn(() => this.load());
  private readonly readSelections = sharedInTurn(() => this.source.loadSelections());
  private due: NodeJS.Timeout | null = null;
  private readonly reported = new WeakMap<KernelMember, string>();
  private stopping = false;
  /** Whether kernels are separate: their connections may come from other machines. */
  readonly runsElsewhere: boolean;

  constructor(
    private readonly source: KernelConfigSource,
    private readonly countryGroups: CountryGroups,
    private readonly launcher: KernelLauncher,
    private readonly lostSelections: LostSelections,
    private readonly listener: PgListener,
    private readonly preferences: Preferences,
  ) {
    super();
    this.runsElsewhere = launcher.leavesKernelRunning;
    this.fleet = new KernelFleet(
      (found) =>
        new KernelMember({
          place: found.place,
          launch: () => found.launch(source.mode.get(), source.mode.executable),
          separate: this.runsElsewhere,
          read: { whole: () => this.readWhole(), selections: () => this.readSelections() },
          hasOthers: () => this.fleet.several,
          listener: {
            ready: (member) => this.configureNew(member),
            applied: (member, mapped, first) => this.onApplied(member, mapped, first),
            gone: (member, reason) => this.kernelLost(member, reason),
            events: (member, batch) => {
              this.fleet.note(member, batch);
              this.events.receive(batch, member);
            },
            live: (member, traffic) => this.events.receiveLive(traffic, member),
            unstored: (member, spools) => this.events.unstored.emit(spools, member),
          },
        }),
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
    this.endings.push(this.launcher.find((found) => this.fleet.use(found), kernelWorkers(this.preferences)));
    // The state shows a kernel that cannot start; the management API must not wait for it for ever.
    await within(FIRST_APPLY_MS, this.firstApply.promise);
    const portIsFromSettings = this.preferences.get('kernel.listen.mixed') !== null;
    const [first, ...others] = this.fleet.members;
    const failure = this.runsElsewhere && others.length > 0 ? null : first?.configurator.failure;
    const refusal = explainFirstFailure(failure, portIsFromSettings);
    if (refusal) throw refusal;
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping = true;
    if (this.due) clearTimeout(this.due);
    for (const end of this.endings.splice(0)) await end();
    await this.fleet.stop(SHUTDOWN_GRACE_MS);
  }

  /** All kernels that were found, whether or not they answer. */
  get kernels(): readonly KernelMember[] {
    return this.fleet.members;
  }

  /** Names the newest configuration that this service has read; null before the first. */
  get revision(): string | null {
    const known = this.fleet.running.find(({ configurator }) => configurator.wanted !== null);
    return known?.configurator.wanted ?? null;
  }

  /** Whether this service drives more than one kernel. */
  get hasSeveral(): boolean {
    return this.fleet.several;
  }

  /** Batches of records to store: each flow once, at its end, and the traffic of each second. */
  onRecords(listener: Listener<KernelRecords>): void {
    this.events.records.add(listener);
  }

  /** A kernel holds records of these spools and waits for `resumeRecords`. */
  onUnstored(listener: Listener<readonly string[]>): void {
    this.events.unstored.add(listener);
  }

  /** The traffic of the last second of one kernel, while there is any. */
  onTraffic(listener: Listener<LiveTraffic>): void {
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
  onStarted(listener: StartListener): void {
    this.startListeners.add(listener);
  }

  /**
   * Applies the database's present state to all kernels, and waits for that; does nothing where it is already applied.
   * A kernel that is down or an invalid configuration is logged and shown in the status, not thrown: the change itself
   * is stored, and the kernel gets it as soon as possible.
   */
  async sync(): Promise<void> {
    await this.each((member) => member.configurator.refresh());
  }

  /** Like `sync`, for changes of selections in groups only. */
  async syncSelections(): Promise<void> {
    await this.each((member) => member.configurator.refreshSelections());
  }

  /**
   * Like `sync`, whether or not anything has changed. Returns what each kernel did that runs.
   * @throws AppError KERNEL_UNAVAILABLE; UNPROCESSABLE for an invalid configuration, which names the kernel if there are
   * several: its previous generation stays.
   */
  async reload(): Promise<[KernelReload, ...KernelReload[]]> {
    const { running } = this.fleet;
    const results = await Promise.allSettled(running.map(({ configurator }) => configurator.force()));
    const done = results.flatMap((result, index) => {
      const kernel = running[index];
      return result.status === 'fulfilled' && result.value && kernel ? [{ kernel, result: result.value }] : [];
    });
    for (const [index, result] of results.entries()) {
      if (result.status === 'fulfilled' || result.reason instanceof KernelUnavailableError) continue;
      this.report(running[index], result.reason);
      throw toAppError(result.reason, running[index]?.name);
    }
    const [first, ...others] = done;
    if (!first) throw kernelUnavailable();
    return [first, ...others];
  }

  /**
   * The first address of these settings that a kernel could not listen on, with the name of a separate kernel; null:
   * none. A kernel that does not answer is not waited for.
   */
  async refusedListener(
    preferences: Pick<Preferences, 'get'>,
  ): Promise<(RefusedListener & { kernel: string | null }) | null> {
    if (this.fleet.running.length === 0) return null;
    // The setting must be possible to change while no kernel answers.
    const answers = await this.fleet.askAll('canListen', this.source.placesWith(preferences)).catch(() => []);
    const refused = answers.find(({ answer }) => answer != null);
    if (!refused?.answer) return null;
    return { ...refused.answer, kernel: this.runsElsewhere ? refused.from.title : null };
  }

  get program(): KernelProgramName {
    return this.source.mode.get();
  }

  get state(): KernelState {
    return stateOf(this.fleet.members.map(({ configurator }) => configurator.state));
  }

  /** What kernels say at once; null if none answers. */
  liveStatus(): Promise<KernelStatus | null> {
    return within(
      1_000,
      this.status().catch(() => null),
    ).then((status) => status ?? null);
  }

  /** The configuration that kernels received last; null before the first. */
  get config(): KernelConfig | null {
    return this.configured?.configurator.applied?.config ?? null;
  }

  /** The applied configuration and what could not be applied; null while it differs from the database. */
  get applied(): MappedConfig | null {
    const configurator = this.configured?.configurator;
    return configurator?.failure === null ? configurator.applied : null;
  }

  /** The state of the kernels with the facts that are available; never rejects. Some are those of one kernel. */
  async describe(version: string): Promise<{ view: KernelStatusView; live: KernelStatus | null }> {
    const live = await this.liveStatus();
    const [first] = this.fleet.members;
    const shown =
      this.fleet.members.find(({ configurator }) => configurator.failure !== null) ?? this.configured ?? first;
    const facts = { live, version, type: this.program, state: this.state };
    return { view: describeKernel(shown ?? null, facts), live };
  }

  /** A kernel that has a configuration. */
  private get configured(): KernelMember | undefined {
    const having = this.fleet.members.filter(({ configurator }) => configurator.applied !== null);
    return having.find(({ running, configurator }) => running && configurator.failure === null) ?? having[0];
  }

  /** Does the same with each kernel. Does not wait long for a kernel that hangs if others are done. */
  private async each(step: (member: KernelMember) => Promise<unknown>): Promise<void> {
    const steps = this.fleet.members.map(async (member) => {
      try {
        await step(member);
        this.reported.delete(member);
      } catch (error) {
        this.report(member, error);
        this.syncIn(RETRY_MS);
      }
    });
    if (steps.length === 0) return;
    await Promise.race(steps);
    await (steps.length === 1 ? steps[0] : within(LAGGARD_MS, Promise.all(steps)));
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

  private configureNew(member: KernelMember): void {
    if (!this.fleet.accept(member)) return;
    guardPromise(
      null,
      this.sync().then(() => this.settled()),
    );
  }

  /** The service is ready as soon as no kernel is about to get its first configuration. */
  private settled(): void {
    if (this.fleet.members.every(({ process }) => process.state !== 'starting')) this.firstApply.resolve();
  }

  /** Reconnecting to a separate kernel is tried without end; each reason is logged once. */
  private kernelLost(member: KernelMember, reason: string): void {
    this.fleet.lost(member);
    if (!this.runsElsewhere) this.logger.warn(`The kernel ended (${reason}); another is started`);
    else if (reason !== member.lost) this.logger.warn(`${reason}; trying again`);
    if (this.fleet.members.some(({ configurator }) => configurator.applied !== null)) this.settled();
  }

  private async onApplied(member: KernelMember, mapped: MappedConfig, first: boolean): Promise<void> {
    if (first) this.notifyStarted(member);
    const switched = await this.lostSelections.record(mapped);
    const choice = this.preferences.get('switch.close_connections');
    if (switched.length === 0 || choice === 'none') return;
    const filters = choice === 'all' ? [{}] : switched.map(({ group, lostTag: lost }) => ({ group, member: lost }));
    for (const filter of filters) await this.fleet.askAll('closeConnections', filter);
  }

  private notifyStarted(member: KernelMember): void {
    for (const listener of this.startListeners) {
      void (async () => listener(member))().catch((error: unknown) =>
        this.logger.warn(`A new kernel did not receive everything: ${member.explain(error)}`),
      );
    }
  }

  /** Logs each reason once, however often the attempt is repeated. */
  private report(member: KernelMember | undefined, error: unknown): void {
    if (!member || error instanceof KernelUnavailableError) return;
    const message = member.explain(error);
    if (message === this.reported.get(member)) return;
    this.reported.set(member, message);
    this.logger.error(`The configuration was not applied: ${message}`);
  }

  protected async translated<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof KernelConfigError) this.logger.error(`A kernel refused a request: ${error.message}`);
      throw toAppError(error);
    }
  }
}
