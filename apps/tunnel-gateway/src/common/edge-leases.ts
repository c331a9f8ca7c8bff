import type { Queries } from './edge-database.js';

/** Notification channel for leases that came, changed or went. */
export const EDGES_CHANNEL = 'tunnel_gateway:edges';

/**
 * `starting`: its ports are not bound yet. `draining`: it accepts nobody, and its connections end. `drained`: as
 * `draining`, until an administrator lets it serve again.
 */
export type EdgeState = 'starting' | 'serving' | 'draining' | 'drained';

/** What an administrator wants of an edge. */
export type WantedState = 'serving' | 'drained';

/** A row of `tunnel_gateway_ops.edges`: one process of an edge. */
export interface EdgeLease {
  id: string;
  /** The edge that the process is part of: the same after a restart. */
  edge: string;
  name: string;
  worker: number;
  workers: number;
  version: string;
  pid: number;
  state: EdgeState;
  /** Addresses that agents and visitors know, `host:port`; null: TUNNEL_EDGE_PUBLIC_HOST is not set. */
  publicAgents: string | null;
  publicHttp: string | null;
  publicHttps: string | null;
  /** Where other edges reach this process and its port for agents, `host:port`; null: they do not. */
  peerAddress: string | null;
  agentsAddress: string | null;
  /** Revision of the configuration in force. */
  revision: number;
  agents: number;
  connections: number;
  /** How busy the process was since the last renewal, from 0 to 1. */
  load: number;
}

export interface KnownLease extends EdgeLease {
  wanted: WantedState;
  startedAt: Date;
}

export interface Renewal {
  /** There was no lease: everything that depends on it must be written again. */
  fresh: boolean;
  wanted: WantedState;
  /** Others have expired. */
  expired: boolean;
}

const RENEW = 'SELECT fresh, wanted, expired FROM tunnel_gateway_ops.renew_edge($1)';
const LIVE = `
  SELECT id, edge, name, worker, workers, version, pid, started_at AS "startedAt", state, wanted,
    public_agents AS "publicAgents", public_http AS "publicHttp", public_https AS "publicHttps",
    peer_address AS "peerAddress", agents_address AS "agentsAddress", revision, agents, connections, load
  FROM tunnel_gateway_ops.edges WHERE lease_until > clock_timestamp()
  ORDER BY name, edge, worker, started_at`;

/** Takes or extends a lease of ten seconds. */
export async function renewLease(queries: Queries, lease: EdgeLease): Promise<Renewal> {
  const { publicAgents, publicHttp, publicHttps, peerAddress, agentsAddress, ...rest } = lease;
  const row = {
    ...rest,
    public_agents: publicAgents,
    public_http: publicHttp,
    public_https: publicHttps,
    peer_address: peerAddress,
    agents_address: agentsAddress,
  };
  const { rows } = await queries.query<Renewal>(RENEW, [JSON.stringify(row)]);
  if (!rows[0]) throw new Error('the lease was not renewed');
  return rows[0];
}

/** Removes expired leases, and the states of tunnels that their processes reported. */
export async function sweepLeases(queries: Queries): Promise<void> {
  await queries.query('SELECT tunnel_gateway_ops.sweep_edges()');
}

/** Ends a lease. `replaced`: the states of tunnels stay until the process that replaces this one writes its own. */
export async function releaseLease(queries: Queries, id: string, replaced: boolean): Promise<void> {
  await queries.query('SELECT tunnel_gateway_ops.release_edge($1, $2)', [id, replaced]);
}

/** All processes with a lease. */
export async function readLeases(queries: Queries): Promise<KnownLease[]> {
  return (await queries.query<KnownLease>(LIVE)).rows;
}
