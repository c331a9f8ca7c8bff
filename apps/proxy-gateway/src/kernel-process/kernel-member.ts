import { SYSTEM_CLOCK } from '@gatehouse/child';
import { guardPromise } from '@gatehouse/net';
import type { KernelIdentity } from '../common/kernel-figures.js';
import type { EventBatch, KernelCalls, KernelMethod, KernelReady, LiveTraffic } from '../common/kernel-ipc.js';
import type { MappedConfig } from '../kernel-config/kernel-config.mapper.js';
import { KernelConfigurator, type ConfigReader } from './kernel-configurator.js';
import { KernelUnavailableError } from './kernel-errors.js';
import type { KernelOrigin } from './kernel-events.js';
import { KernelProcess, type KernelChild } from './kernel-process.js';

/** What a kernel reports to the fleet it belongs to. */
export interface MemberListener {
  /** It has started or was connected to, and has no configuration from this service yet. */
  ready(member: KernelMember): void;
  /** It has the configuration. `first`: for the first time since it was ready. */
  applied(member: KernelMember, mapped: MappedConfig, first: boolean): Promise<void>;
  gone(member: KernelMember, reason: string): void;
  events(member: KernelMember, batch: EventBatch): void;
  live(member: KernelMember, traffic: LiveTraffic): void;
  unstored(member: KernelMember, spools: readonly string[]): void;
}

export interface KernelMemberOptions {
  place: string;
  launch(): KernelChild;
  /** It keeps running when this service disconnects. */
  separate: boolean;
  read: ConfigReader;
  /** Whether the fleet has more kernels than this one. */
  hasOthers(): boolean;
  listener: MemberListener;
}

/** One kernel: its process or the connection to it, and its configuration. */
export class KernelMember implements KernelOrigin {
  readonly place: string;
  readonly process: KernelProcess;
  readonly configurator: KernelConfigurator;
  private readonly options: KernelMemberOptions;
  private ready: KernelReady | null = null;
  private isNew = true;
  /** Why the connection was last lost; null while there is one, and before the first. */
  lost: string | null = null;
  sendsLive = false;

  constructor(options: KernelMemberOptions) {
    const { place, separate, listener, read } = options;
    this.options = options;
    this.place = place;
    this.process = new KernelProcess({
      fork: () => options.launch(),
      clock: SYSTEM_CLOCK,
      leaveRunning: separate,
      onReady: (ready) => this.started(ready),
      onEvents: (batch) => listener.events(this, batch),
      onLive: (traffic) => listener.live(this, traffic),
      onUnstored: (spools) => listener.unstored(this, spools),
      onExit: (reason) => {
        this.sendsLive = false;
        listener.gone(this, reason);
        this.lost = reason;
      },
    });
    this.configurator = new KernelConfigurator(this.process, read, (mapped) => this.applied(mapped));
  }

  get running(): boolean {
    return this.process.state === 'running';
  }

  /** Null for a kernel of this service, and before the first connection; a kernel of an older version says less. */
  get identity(): Partial<KernelIdentity> | null {
    return this.options.separate && this.ready ? (this.ready.identity ?? {}) : null;
  }

  /** This run of a separate kernel, which may be reached at several addresses. */
  get instance(): string | null {
    return this.ready?.instance ?? null;
  }

  /** The name that people see. */
  get title(): string {
    return this.identity?.name ?? this.place;
  }

  get name(): string | null {
    return this.options.hasOthers() ? this.title : null;
  }

  /** @throws KernelUnavailableError, KernelConfigError */
  request<M extends KernelMethod>(
    method: M,
    params: KernelCalls[M]['params'],
    timeoutMs?: number,
  ): Promise<KernelCalls[M]['result']> {
    return this.process.request(method, params, timeoutMs);
  }

  /** The error as people read it: with several kernels it names this one. */
  explain(error: unknown): string {
    const text = error instanceof Error ? error.message : String(error);
    return this.name === null || error instanceof KernelUnavailableError ? text : `${this.name}: ${text}`;
  }

  private started(ready: KernelReady): void {
    this.ready = ready;
    this.lost = null;
    this.isNew = true;
    this.configurator.forget();
    if (this.options.separate) guardPromise(null, this.watch());
    this.options.listener.ready(this);
  }

  private async watch(): Promise<void> {
    this.sendsLive = (await this.request('watch', null).catch(() => undefined)) === true;
  }

  private async applied(mapped: MappedConfig): Promise<void> {
    const first = this.isNew;
    this.isNew = false;
    await this.options.listener.applied(this, mapped, first);
  }
}
