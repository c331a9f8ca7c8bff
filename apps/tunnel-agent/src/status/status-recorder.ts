import type { AgentHost, AgentStatus, AgentTunnel, FlowDelta, TunnelAgent } from '@gatehouse/tunnel-kernel';
import { targetsOf, type AgentReport, type ResourceReport, type Traffic } from './agent-report.js';

const MAX_RESOURCES = 1000;

export interface StatusRecorderOptions {
  version: string;
  gateway: string;
  proxy: string | null;
  pid: number;
  now: () => number;
}

type Resource = Omit<ResourceReport, keyof Traffic>;

/** Keeps what `gatehouse-agent status` shows of one agent. */
export class StatusRecorder {
  private readonly options: StatusRecorderOptions;
  private readonly startedAt: number;
  private state: AgentReport['state'] = 'connecting';
  private since: number;
  private online: { via: 'raw' | 'websocket'; clientId: number } | null = null;
  private lastError: AgentReport['last_error'] = null;
  private resources: Resource[] = [];
  private readonly total = noTraffic();
  /** By kind and id. */
  private readonly byResource = new Map<string, Traffic>();
  /** What the log has not seen yet. */
  private unreported = new Map<string, FlowDelta>();

  constructor(options: StatusRecorderOptions) {
    this.options = options;
    this.startedAt = options.now();
    this.since = this.startedAt;
  }

  changed(status: AgentStatus): void {
    const now = this.options.now();
    const { state } = status;
    if (state !== this.state) this.since = now;
    this.state = state;
    this.online = state === 'online' ? { via: status.via, clientId: status.clientId } : null;
    if ('reason' in status) {
      const { code, message } = status.reason;
      this.lastError = { at: new Date(now).toISOString(), code, message };
    }
  }

  configured(tunnels: readonly AgentTunnel[], hosts: readonly AgentHost[]): void {
    this.resources = [
      ...tunnels.map((tunnel) => resourceOf('tunnel', tunnel, tunnel.mode, tunnel.entrance)),
      ...hosts.map((host) => resourceOf('host', host, 'host', host.name)),
    ];
    const present = new Set(this.resources.map(keyOf));
    for (const key of this.byResource.keys()) if (!present.has(key)) this.byResource.delete(key);
  }

  /** Takes over what the agent carried since the last call. */
  count(agent: Pick<TunnelAgent, 'takeDeltas'>): void {
    for (const delta of agent.takeDeltas()) {
      const key = keyOf(delta.resource);
      const sum = this.byResource.get(key) ?? noTraffic();
      add(sum, delta);
      add(this.total, delta);
      this.byResource.set(key, sum);
      const waiting = this.unreported.get(key);
      if (waiting) add(waiting, delta);
      else this.unreported.set(key, { ...delta });
    }
  }

  /** For the log: each delta once. */
  takeUnreported(): FlowDelta[] {
    const deltas = [...this.unreported.values()];
    this.unreported = new Map();
    return deltas;
  }

  report(openConnections: number): AgentReport {
    const { version, gateway, proxy, pid } = this.options;
    return {
      format: 1,
      version,
      pid,
      started_at: new Date(this.startedAt).toISOString(),
      gateway,
      proxy,
      state: this.state,
      since: new Date(this.since).toISOString(),
      via: this.online?.via ?? null,
      client_id: this.online?.clientId ?? null,
      open_connections: openConnections,
      traffic: { ...this.total },
      resources: this.resources
        .slice(0, MAX_RESOURCES)
        .map((resource) => ({ ...resource, ...(this.byResource.get(keyOf(resource)) ?? noTraffic()) })),
      omitted: Math.max(0, this.resources.length - MAX_RESOURCES),
      last_error: this.lastError,
    };
  }
}

function resourceOf(
  kind: Resource['kind'],
  resource: AgentTunnel | AgentHost,
  mode: string,
  address: string,
): Resource {
  return { kind, id: resource.id, mode, address, leads_to: targetsOf(resource) };
}

function keyOf({ kind, id }: { kind: string; id: number }): string {
  return `${kind} ${id}`;
}

function noTraffic(): Traffic {
  return { upload: 0, download: 0, connections: 0 };
}

function add(sum: Traffic, { upload, download, connections }: Traffic): void {
  sum.upload += upload;
  sum.download += download;
  sum.connections += connections;
}
