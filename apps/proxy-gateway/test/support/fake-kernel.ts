import type { KernelState } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import type {
  ConnectionMetadata,
  ConnectionRecord,
  ConnectionSnapshot,
  KernelConfig,
  KernelStatus,
  TracedDecision,
  TrafficDelta,
} from '@gatehouse/proxy-kernel';
import { NOON } from './flows.js';

/** Stands in for KernelService where a test decides what the kernel knows. */
export class FakeKernel {
  open: ConnectionSnapshot[] = [];
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
  private readonly closedListeners: ((records: readonly ConnectionRecord[]) => void)[] = [];
  private readonly trafficListeners: ((delta: TrafficDelta) => void)[] = [];

  get state(): KernelState {
    return this.down ? 'degraded' : 'running';
  }

  onClosed(listener: (records: readonly ConnectionRecord[]) => void): void {
    this.closedListeners.push(listener);
  }

  onTraffic(listener: (delta: TrafficDelta) => void): void {
    this.trafficListeners.push(listener);
  }

  tell({ closed = [], traffic = [] }: { closed?: ConnectionRecord[]; traffic?: TrafficDelta[] }): void {
    for (const listener of this.closedListeners) listener(closed);
    for (const delta of traffic) for (const listener of this.trafficListeners) listener(delta);
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

  async closeConnections(): Promise<number> {
    this.check();
    return this.open.splice(0).length;
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
      listeners: [],
      activeConnections: this.open.length,
      openedTotal: 0,
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
