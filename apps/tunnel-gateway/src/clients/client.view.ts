import type { AgentView, TunnelClientView, TunnelConnectionView } from '@gatehouse/contracts';
import type { EdgeAgent, VisitorConnection } from '../common/edge-ipc.js';
import { flag, instant } from '../wire/view-parts.js';
import type { Client, ClientOptions } from '../data/client.entity.js';

export interface ClientFacts {
  options: ClientOptions | undefined;
  /** Null: the data plane does not answer. Undefined: not connected. */
  agent: EdgeAgent | undefined | null;
  now: Date;
}

const KIBIBYTE = 1024;

export function toClientView(client: Client, { options, agent, now }: ClientFacts): TunnelClientView {
  const { expireAt } = client;
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
    online: agent === null ? null : agent !== undefined,
    agent: agent ? toAgentView(agent) : null,
    inlet_flow: client.inletFlow ?? 0,
    export_flow: client.exportFlow ?? 0,
    created_at: instant(client.createdAt),
    updated_at: instant(client.updatedAt),
  };
}

function toAgentView({ address, software, connectedAt, roundTripMs, previousKey }: EdgeAgent): AgentView {
  return {
    address,
    software,
    connected_at: new Date(connectedAt).toISOString(),
    round_trip_ms: roundTripMs,
    uses_previous_key: previousKey,
  };
}

export function toConnectionView(connection: VisitorConnection): TunnelConnectionView {
  return {
    resource_type: connection.kind,
    resource_id: connection.id,
    visitor_ip: connection.address,
    visitor_port: connection.port,
    started_at: new Date(connection.startedAt).toISOString(),
    inlet_bytes: connection.upload,
    export_bytes: connection.download,
  };
}
