import { createHash } from 'node:crypto';
import type { KernelState, KernelStatusView } from '@gatehouse/contracts';
import { PgListener } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { KernelConfigError } from '@gatehouse/proxy-kernel';
import type {
  ApplyResult,
  ConnectionMetadata,
  ConnectionRecord,
  ConnectionSnapshot,
  GroupConfig,
  KernelConfig,
  KernelStatus,
  TracedDecision,
  TrafficDelta,
} from '@gatehouse/proxy-kernel';
import { Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';
import { Preferences } from '../preferences/preferences.service.js';
import { coalesce } from './coalesce.js';
import { mapKernelConfig } from './kernel-config.mapper.js';
import type { MappedConfig } from './kernel-config.mapper.js';
import { KernelConfigSource } from './kernel-config.source.js';
import { KernelUnavailableError } from './kernel-errors.js';
import type { CloseFilter, EventBatch, KernelCalls, KernelLogEntry, KernelMethod } from './kernel-ipc.js';
import { KernelLauncher } from './kernel-launcher.js';
import { KernelProcess } from './kernel-process.js';
import { LostChoices } from './lost-choices.js';

export { KERNEL_CONFIG_CHANNEL };

/** Changes that come together make one reload. */
const DEBOUNCE_MS = 50;
const SHUTDOWN_GRACE_MS = 500;
const APPLY_TIMEOUT_MS = 30_000;
const SHOWN_LEFT_OUT = 100;

type Listener<T> = (value: T) => void;

/** The kernel of this process: keeps it running on what the database says, and speaks for it. */
@Injectable()
export class KernelService implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Logger('Kernel');
  private readonly process: KernelProcess;
  private readonly closedListeners = new Set<Listener<readonly ConnectionRecord[]>>();
  private readonly trafficListeners = new Set<Listener<TrafficDelta>>();
  private readonly logListeners = new Set<Listener<KernelLogEntry>>();
  private readonly endings: (() => void | Promise<void>)[] = [];
  /** One at a time: rows read earlier must never be applied after rows read later. */
  private readonly refresh = coalesce(() => this.rebuild());
  private debounce: NodeJS.Timeout | null = null;
  private applied: { hash: string; mapped: MappedConfig } | null = null;
  private lastApply: { result: ApplyResult; at: Date } | null = null;
  private lastError: string | null = null;
  private reloading = false;
  /** The next rebuild applies even what the kernel has already. */
  private forced = false;

  constructor(
    private readonly source: KernelConfigSource,
    private readonly lostChoices: LostChoices,
    private readonly listener: PgListener,
    private readonly preferences: Preferences,
    launcher: KernelLauncher,
  ) {
    this.process = new KernelProcess({
      fork: () => launcher.launch(),
      clock: { now: () => Date.now(), after: startTimer },
      onReady: () => void this.applyAfterStart(),
      onEvents: (batch) => this.receive(batch),
      onExit: (reason) => this.logger.warn(`The kernel ended (${reason}); another is started`),
    });
  }

  /** Waits for the first configuration to be applied, so that a service that says it is ready also carries traffic. */
  async onApplicationBootstrap(): Promise<void> {
    const renew = (): void => this.refreshSoon();
    this.endings.push(await this.listener.listen(KERNEL_CONFIG_CHANNEL, renew, renew));
    this.endings.push(this.preferences.onChange(renew));
    const started = new Promise<void>((resolve) => (this.onFirstApply = resolve));
    this.process.start();
    // A kernel that cannot start is told by its state; the management API must not wait for it for ever.
    await Promise.race([started, new Promise<void>((resolve) => startTimer(5_000, resolve))]);
  }

  async onModuleDestroy(): Promise<void> {
    if (this.debounce) clearTimeout(this.debounce);
    for (const end of this.endings.splice(0)) await end();
    await this.process.stop(SHUTDOWN_GRACE_MS);
  }

  /** Every flow once, at its end, in batches. */
  onClosed(listener: Listener<readonly ConnectionRecord[]>): void {
    this.closedListeners.add(listener);
  }

  /** Once a second while anything moved. */
  onTraffic(listener: Listener<TrafficDelta>): void {
    this.trafficListeners.add(listener);
  }

  onLog(listener: Listener<KernelLogEntry>): void {
    this.logListeners.add(listener);
  }

  /**
   * Makes what the database says now the kernel's configuration, and waits for it; does nothing where it is already.
   * A kernel that is down or a configuration that cannot run is logged and shown in the status, not thrown: the change
   * itself is stored, and the kernel gets it when it can.
   */
  async sync(): Promise<void> {
    try {
      await this.refresh();
    } catch (error) {
      this.report(error);
    }
  }

  /**
   * The same, whether or not anything changed.
   * @throws AppError KERNEL_UNAVAILABLE; UNPROCESSABLE for a configuration that cannot run: the generation before stays.
   */
  async reload(): Promise<ApplyResult> {
    this.forced = true;
    const result = await this.translated(this.refresh());
    if (!result) throw unavailable();
    return result;
  }

  /** @throws AppError KERNEL_UNAVAILABLE, as all of the following. */
  connections(): Promise<ConnectionSnapshot[]> {
    return this.ask('connections', null);
  }

  closeConnection(id: string): Promise<boolean> {
    return this.ask('closeConnection', { id });
  }

  closeConnections(filter: CloseFilter = {}): Promise<number> {
    return this.ask('closeConnections', filter);
  }

  testRoute(flow: ConnectionMetadata): Promise<TracedDecision> {
    return this.ask('testRoute', flow);
  }

  status(): Promise<KernelStatus> {
    return this.ask('status', null);
  }

  get state(): KernelState {
    if (this.process.state === 'stopped') return 'stopped';
    if (this.process.state === 'starting') return 'starting';
    if (this.process.state === 'restarting') return 'degraded';
    if (!this.applied) return this.lastError ? 'degraded' : 'starting';
    if (this.reloading) return 'reloading';
    return this.lastError ? 'degraded' : 'running';
  }

  /** What the kernel was last told to be; null before the first. */
  get config(): KernelConfig | null {
    return this.applied?.mapped.config ?? null;
  }

  /** Its state with the facts it can give; never fails. */
  async describe(version: string): Promise<{ view: KernelStatusView; live: KernelStatus | null }> {
    const live = await this.process.request('status', null, 1_000).catch(() => null);
    const leftOut = this.applied?.mapped.leftOut ?? [];
    const view: KernelStatusView = {
      type: 'embedded',
      version,
      state: this.state,
      pid: this.process.pid,
      restarts: this.process.restarts,
      generation: live?.generation ?? 0,
      config_hash: live?.configHash ?? null,
      last_reload_at: this.lastApply?.at.toISOString() ?? null,
      last_reload_ms: this.lastApply?.result.durationMs ?? null,
      last_error: this.lastError,
      uptime_sec: live ? Math.max(0, Math.floor((Date.now() - live.startedAt) / 1000)) : null,
      rss_bytes: live?.rssBytes ?? null,
      listeners: live?.listeners ?? [],
      left_out: leftOut.slice(0, SHOWN_LEFT_OUT),
      left_out_total: leftOut.length,
    };
    return { view, live };
  }

  private onFirstApply: () => void = () => undefined;

  private refreshSoon(): void {
    this.debounce ??= setTimeout(() => {
      this.debounce = null;
      void this.sync();
    }, DEBOUNCE_MS);
  }

  /** A kernel that just started knows nothing, whatever its predecessor was told. */
  private async applyAfterStart(): Promise<void> {
    this.applied = null;
    await this.sync();
    this.onFirstApply();
  }

  private async rebuild(): Promise<ApplyResult | null> {
    const { forced } = this;
    this.forced = false;
    if (this.process.state !== 'running') return null;
    const mapped = mapKernelConfig(await this.source.load());
    const hash = hashWithoutSelections(mapped.config);
    const result =
      !forced && this.applied?.hash === hash ? await this.reselect(mapped) : await this.apply(mapped, hash);
    await this.lostChoices.record(mapped);
    return result;
  }

  private async apply(mapped: MappedConfig, hash: string): Promise<ApplyResult> {
    const child = this.process.pid;
    this.reloading = true;
    try {
      const result = await this.process.request('apply', mapped.config, APPLY_TIMEOUT_MS);
      // The one that took it may have died since: its successor knows nothing of it.
      if (child === this.process.pid) this.applied = { hash, mapped };
      this.lastApply = { result, at: new Date() };
      this.lastError = null;
      for (const warning of result.warnings) this.logger.warn(warning);
      return result;
    } finally {
      this.reloading = false;
    }
  }

  /** Nothing but choices changed: no new generation for that. */
  private async reselect(mapped: MappedConfig): Promise<null> {
    const before = new Map(this.applied?.mapped.config.groups.map((group) => [group.name, chosen(group)]));
    for (const group of mapped.config.groups) {
      const member = chosen(group);
      if (member === undefined || member === before.get(group.name)) continue;
      await this.process.request('select', { group: group.name, member });
    }
    if (this.applied) this.applied = { ...this.applied, mapped };
    return null;
  }

  private receive(batch: EventBatch): void {
    if (batch.closed.length > 0) for (const listener of this.closedListeners) listener(batch.closed);
    for (const delta of batch.traffic) for (const listener of this.trafficListeners) listener(delta);
    for (const entry of batch.logs) this.log(entry);
    const { closed, traffic, logs } = batch.dropped;
    if (closed + traffic + logs > 0) {
      this.logger.error(
        `The kernel could not hand over ${closed} records, ${traffic} traffic deltas, ${logs} log lines`,
      );
    }
  }

  private log(entry: KernelLogEntry): void {
    const level = entry.level === 'info' ? 'log' : entry.level;
    this.logger[level](entry.message, ...(entry.fields ? [entry.fields] : []));
    for (const listener of this.logListeners) listener(entry);
  }

  private report(error: unknown): void {
    if (error instanceof KernelUnavailableError) return;
    this.lastError = error instanceof Error ? error.message : String(error);
    this.logger.error(`The configuration was not applied: ${this.lastError}`);
  }

  private ask<M extends KernelMethod>(method: M, params: KernelCalls[M]['params']): Promise<KernelCalls[M]['result']> {
    return this.translated(this.process.request(method, params));
  }

  private async translated<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof KernelUnavailableError) throw unavailable(error);
      if (!(error instanceof KernelConfigError)) throw error;
      this.report(error);
      throw new AppError('UNPROCESSABLE', `The configuration cannot run: ${error.message}`, {
        details: [{ field: error.path, message: error.message }],
        cause: error,
      });
    }
  }
}

function chosen({ selected, members }: GroupConfig): string | undefined {
  return selected ?? members[0];
}

function hashWithoutSelections(config: KernelConfig): string {
  const groups = config.groups.map(({ selected: _selected, ...group }) => group);
  return createHash('sha256')
    .update(JSON.stringify({ ...config, groups }))
    .digest('hex');
}

function startTimer(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

function unavailable(cause?: unknown): AppError {
  return new AppError('KERNEL_UNAVAILABLE', 'The proxy kernel is not running; it is being started again.', { cause });
}
