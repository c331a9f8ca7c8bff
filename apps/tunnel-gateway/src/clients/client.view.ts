import type { AgentView, TrafficQuotaView, TunnelClientView, TunnelConnectionView } from '@gatehouse/contracts';
import type { EdgeAgent, VisitorConnection } from '../common/edge-ipc.js';
import type { Placed } from '../edge-host/fleet.service.js';
import { flag, instant } from '../wire/view-parts.js';
import type { Client, ClientOptions } from '../data/client.entity.js';

export interface ClientFacts {
  options: ClientOptions | undefined;
  quota: TrafficQuotaView;
  /** Newest first. Null: unknown, because a data plane does not answer. */
  agents: Placed<EdgeAgent>[] | null;
  now: Date;
}

const KIBIBYTE = 1024;

export function toClientView(client: Client, { options, quota, agents, now }: ClientFacts): TunnelClientView {
  const { expireAt } = client;
  const [newest] = agents ?? [];
  const rateLimit = client.rateLimit ?? 0;
  const previousKeyUntil = options?.previousKeyUntil ?? null;
  return {
    id: client.id,
    name: client.name,
    owner_user_id: client.ownerUserId,
    rate_limit: rateLimit,
    rate_limit_bytes_per_second: rateLimit * KIBIBYTE,
    max_conn: client.maxConn ?? 0,
    expire_at: instant(expireAt),
    expired: expireAt !== null && expireAt <= now,
    status: flag(client.status),
    encrypt: options?.encrypt ?? true,
    previous_key_until: instant(previousKeyUntil !== null && previousKeyUntil > now ? previousKeyUntil : null),
    online: agents && agents.length > 0,
    agent: newest ? toAgentView(newest) : null,
    agents: agents?.map(toAgentView) ?? [],
    inlet_flow: client.inletFlow ?? 0,
    export_flow: client.exportFlow ?? 0,
    ...quota,
    created_at: instant(client.createdAt),
    updated_at: instant(client.updatedAt),
  };
}

function toAgentView({ edge, address, software, connectedAt, roundTripMs, previousKey }: Placed<EdgeAgent>): AgentView {
  return {
    edge,
    address,
    software,
    connected_at: new Date(connectedAt).toISOString(),
    round_trip_ms: roundTripMs,
    uses_previous_key: previousKey,
  };
}

export function toConnectionView(connection: Placed<VisitorConnection>): TunnelConnectionView {
  return {
    edge: connection.edge,
    resource_type: connection.kind,
    resource_id: connection.id,
    visitor_ip: connection.address,
    visitor_port: connection.port,
    started_at: new Date(connection.startedAt).toISOString(),
    inlet_bytes: connection.upload,
    export_bytes: connection.download,
  };
}
