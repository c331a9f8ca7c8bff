import type { KernelState } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import type {
  CircuitChanged,
  ConnectionMetadata,
  ConnectionRecord,
  ConnectionSnapshot,
  GroupState,
  GroupSwitched,
  HealthReport,
  KernelConfig,
  KernelStatus,
  ListenerState,
  RefusedRule,
  TracedDecision,
  TrafficDelta,
} from '@gatehouse/proxy-kernel';
import type { MappedConfig } from '../../src/kernel-config/kernel-config.mapper.js';
import type { KernelRecords } from '../../src/kernel-process/kernel-events.js';
import type { SpoolRange } from '../../src/common/spool-range.js';
import type { CloseFilter, GroupInUse, KernelInUse } from '../../src/common/kernel-ipc.js';
import { NOON } from './flows.js';

interface Emitted {
  closed?: ConnectionRecord[];
  traffic?: TrafficDelta[];
  source?: SpoolRange | null;
  switched?: GroupSwitched[];
  circuits?: CircuitChanged[];
}

/** Replaces KernelService if a test decides what the kernel knows. */
export class FakeKernel {
  open: ConnectionSnapshot[] = [];
  /** Takes every valid rule. */
  refusedRules = (): Promise<RefusedRule[]> => Promise.resolve([]);
  down = false;
  syncs = 0;
  asked: ConnectionMetadata[] = [];
  decision: TracedDecision = {
    rule: null,
    target: 'DIRECT',
    chain: ['DIRECT'],
    outbound: 'DIRECT',
    resolvedIps: [],
    trace: [],
    evaluated: 0,
    elapsedUs: 1.4,
  };
  config: KernelConfig | null = null;
  applied: MappedConfig | null = null;
  private readonly recordListeners: ((records: KernelRecords) => void)[] = [];
  private readonly leftListeners: ((spools: readonly string[]) => void)[] = [];
  /** Records that were acknowledged to the kernel, and requests to send records again. */
  readonly stored: SpoolRange[] = [];
  readonly resumed: { stored: readonly SpoolRange[]; lost: readonly SpoolRange[] }[] = [];
  private readonly trafficListeners: ((delta: TrafficDelta) => void)[] = [];
  private readonly switchListeners: ((change: GroupSwitched) => void)[] = [];
  private readonly circuitListeners: ((change: CircuitChanged) => void)[] = [];
  private readonly startListeners: (() => void | Promise<void>)[] = [];
  /** Every report of measurements, in order. */
  health: { testUrl: string | null; report: HealthReport }[] = [];
  groupStates: GroupState[] = [];
  listeners: ListenerState[] = [];

  get state(): KernelState {
    return this.down ? 'degraded' : 'running';
  }

  onRecords(listener: (records: KernelRecords) => void): void {
    this.recordListeners.push(listener);
  }

  onUnstored(listener: (spools: readonly string[]) => void): void {
    this.leftListeners.push(listener);
  }

  async storedRecords(ranges: readonly SpoolRange[]): Promise<void> {
    this.stored.push(...ranges);
  }

  async resumeRecords(stored: readonly SpoolRange[], lost: readonly SpoolRange[]): Promise<void> {
    this.resumed.push({ stored, lost });
  }

  /** Acts like a kernel with records of these spools. */
  offerUnstored(spools: readonly string[]): void {
    for (const listener of this.leftListeners) listener(spools);
  }

  onTraffic(listener: (delta: TrafficDelta) => void): void {
    this.trafficListeners.push(listener);
  }

  onSwitched(listener: (change: GroupSwitched) => void): void {
    this.switchListeners.push(listener);
  }

  onCircuit(listener: (change: CircuitChanged) => void): void {
    this.circuitListeners.push(listener);
  }

  onStarted(listener: () => void | Promise<void>): void {
    this.startListeners.push(listener);
  }

  emit({ closed = [], traffic = [], switched = [], circuits = [], source = null }: Emitted): void {
    for (const change of switched) for (const listener of this.switchListeners) listener(change);
    for (const change of circuits) for (const listener of this.circuitListeners) listener(change);
    for (const listener of this.recordListeners) listener({ closed, traffic, source });
    for (const delta of traffic) for (const listener of this.trafficListeners) listener(delta);
  }

  /** Acts as if another kernel process had started. */
  async restart(): Promise<void> {
    for (const listener of this.startListeners) await listener();
  }

  async setHealth(testUrl: string | null, report: HealthReport): Promise<void> {
    this.check();
    this.health.push({ testUrl, report });
  }

  async groupsInUse(): Promise<GroupInUse[]> {
    this.check();
    return this.groupStates;
  }

  async syncSelections(): Promise<void> {
    this.syncs++;
  }

  async sync(): Promise<void> {
    this.syncs++;
  }

  async connections(): Promise<ConnectionSnapshot[]> {
    this.check();
    return this.open;
  }

  async closeConnection(id: string): Promise<boolean> {
    this.check();
    const before = this.open.length;
    this.open = this.open.filter((connection) => connection.id !== id);
    return this.open.length < before;
  }

  async closeConnections({ ids }: CloseFilter = {}): Promise<number> {
    this.check();
    const before = this.open.length;
    this.open = ids ? this.open.filter(({ id }) => !ids.includes(id)) : [];
    return before - this.open.length;
  }

  async inUse(): Promise<KernelInUse> {
    return { groups: await this.groupsInUse(), usage: await this.usage() };
  }

  private async usage(): Promise<KernelInUse['usage']> {
    this.check();
    return {};
  }

  async testRoute(flow: ConnectionMetadata): Promise<TracedDecision> {
    this.check();
    this.asked.push(flow);
    return this.decision;
  }

  async status(): Promise<KernelStatus> {
    this.check();
    return {
      generation: 1,
      configHash: null,
      startedAt: NOON,
      listeners: this.listeners,
      activeConnections: this.open.length,
      openedTotal: 0,
      flowFailuresTotal: 0,
      failedTotal: 0,
      uploadTotal: 0,
      downloadTotal: 0,
      rssBytes: 50_000_000,
    };
  }

  private check(): void {
    if (this.down) throw new AppError('KERNEL_UNAVAILABLE');
  }
}
