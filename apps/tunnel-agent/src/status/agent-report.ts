import type { AgentHost, AgentTunnel } from '@gatehouse/tunnel-kernel';

export interface Traffic {
  /** Bytes from visitors. */
  upload: number;
  /** Bytes to visitors. */
  download: number;
  /** Connections that began. */
  connections: number;
}

export interface ResourceReport extends Traffic {
  kind: 'tunnel' | 'host';
  id: number;
  /** Of tunnels; `host` for hosts. */
  mode: string;
  /** What visitors open; empty where a key leads there. */
  address: string;
  /** Empty: whatever visitors ask for. */
  leads_to: string;
}

/** What a running agent says about itself. It has no secrets. */
export interface AgentReport {
  /** Increases when a reader of the former form could not read it. */
  format: 1;
  version: string;
  pid: number;
  started_at: string;
  gateway: string;
  proxy: string | null;
  state: 'connecting' | 'online' | 'waiting' | 'stopped';
  /** When it came to be so. */
  since: string;
  via: 'raw' | 'websocket' | null;
  client_id: number | null;
  open_connections: number;
  /** Since the agent started. */
  traffic: Traffic;
  resources: ResourceReport[];
  /** Tunnels and hosts that are not listed, because there are too many. */
  omitted: number;
  last_error: { at: string; code: string; message: string } | null;
}

const MAX_TARGETS_CHARACTERS = 200;

/** `host:port` of each target, the folder, or what visitors may ask for. */
export function targetsOf(resource: AgentTunnel | AgentHost): string {
  if ('file' in resource && resource.file) return resource.file.path;
  const targets = resource.targets.map(({ host, port }) => `${host}:${port}`);
  const all = targets.length > 0 ? targets : 'destinations' in resource ? resource.destinations : [];
  const text = all.join(', ');
  return text.length > MAX_TARGETS_CHARACTERS ? `${text.slice(0, MAX_TARGETS_CHARACTERS)}…` : text;
}
