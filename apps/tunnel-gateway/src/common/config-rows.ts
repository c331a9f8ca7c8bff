import type {
  IpRuleConfig,
  RecordLevel,
  TunnelMode,
  VisitorOAuthClient,
  VisitorPolicyType,
} from '@gatehouse/tunnel-kernel';
import type { StoredHealthCheck, StoredRedirect } from '../data/host.entity.js';
import type { Queries } from './edge-database.js';

/** The stored OAuth registration of a policy, without its secret. */
export type StoredOAuth = Omit<VisitorOAuthClient, 'clientSecret'>;

export interface ClientRow {
  id: number;
  userId: number;
  keyHash: string;
  /** Hash of the former key, which is valid until then (milliseconds since the epoch). Missing in older snapshots. */
  previousKeyHash?: string | null;
  previousKeyUntil?: number | null;
  /** Both the client and its owner are enabled. */
  enabled: boolean;
  /** Milliseconds since the epoch. */
  expiresAt: number | null;
  /** KiB per second. */
  rateLimit: number;
  maxConnections: number;
  encrypt: boolean;
}

export interface TunnelRow {
  id: number;
  clientId: number;
  mode: TunnelMode;
  listenIp: string;
  listenPort: number;
  targetAddr: string;
  proxyProtocol: 0 | 1 | 2;
  acceptProxyProtocol: boolean;
  /** KiB per second. These two are missing in older snapshots. */
  rateLimit?: number;
  /** Ports from `listenPort` on. */
  portCount?: number;
}

export interface HostRow {
  id: number;
  clientId: number;
  host: string;
  location: string;
  /** Missing in older snapshots. */
  strictPath?: boolean;
  scheme: 'all' | 'http' | 'https';
  targetAddr: string;
  certPath: string | null;
  keyPath: string | null;
  autoHttps: boolean;
  /** An uploaded or ordered certificate, with its key sealed. */
  certificate: { chain: string; sealedKey: string; names: string[] } | null;
  rewriteHost: string | null;
  /** These four are missing in older snapshots. */
  rewritePath?: string | null;
  sticky?: boolean;
  maxBodyBytes?: number;
  errorPage?: string | null;
  requestHeaders: Record<string, string>;
  responseHeaders: Record<string, string>;
  /** These are missing in older snapshots. */
  recordRequests?: 'off' | RecordLevel;
  healthCheck?: StoredHealthCheck | null;
  redirect?: StoredRedirect | null;
  compress?: boolean;
}

export interface PolicyRow {
  id: number;
  kind: 'tunnel' | 'host' | 'client';
  resourceId: number;
  type: VisitorPolicyType;
  password: string | null;
  callbackUrl: string | null;
  copyHeaders: string[];
  allowPrivate: boolean;
  /** Only for type `oauth`. */
  oauth: StoredOAuth | null;
  sealedSecret: string | null;
  ttlSeconds: number;
  version: number;
}

/** A list of addresses that rules name. */
export interface AddressListRow {
  id: number;
  name: string;
  /** As `AddressSet` writes it; null: never loaded. */
  content: string | null;
}

/** The configuration as stored in the tables: its only secrets are hashed or sealed. */
export interface ConfigRows {
  revision: number;
  clients: ClientRow[];
  tunnels: TunnelRow[];
  hosts: HostRow[];
  ipRules: IpRuleConfig[];
  /** Missing in older snapshots. */
  addressLists?: AddressListRow[];
  policies: PolicyRow[];
}

const CLIENT_COLUMNS = `
  c.id, c.owner_user_id AS "userId", c.verify_key AS "keyHash", (c.status = 1 AND u.status = 1) AS enabled,
  (extract(epoch FROM c.expire_at) * 1000)::float8 AS "expiresAt", coalesce(c.rate_limit, 0) AS "rateLimit",
  coalesce(c.max_conn, 0) AS "maxConnections", coalesce(o.encrypt, true) AS encrypt,
  o.previous_verify_key AS "previousKeyHash", (extract(epoch FROM o.previous_key_until) * 1000)::float8 AS "previousKeyUntil"`;
const CLIENT_TABLES = `
  tunnel_gateway.clients c JOIN tunnel_gateway.users u ON u.id = c.owner_user_id
  LEFT JOIN tunnel_gateway_ops.client_options o ON o.client_id = c.id`;

/** Selects requested rows; in every statement $1 is an array of ids, null for all. */
const CLIENTS = `
  SELECT ${CLIENT_COLUMNS} FROM ${CLIENT_TABLES}
  WHERE $1::bigint[] IS NULL OR c.id = ANY ($1) OR c.owner_user_id = ANY ($2::bigint[]) ORDER BY c.id`;

const TUNNELS = `
  SELECT t.id, t.client_id AS "clientId", t.mode, coalesce(t.listen_ip, '0.0.0.0') AS "listenIp",
    t.listen_port AS "listenPort", t.target_addr AS "targetAddr", coalesce(o.proxy_protocol, 0) AS "proxyProtocol",
    coalesce(o.accept_proxy_protocol, false) AS "acceptProxyProtocol", coalesce(o.rate_limit, 0) AS "rateLimit",
    coalesce(o.port_count, 1) AS "portCount"
  FROM tunnel_gateway.tunnels t LEFT JOIN tunnel_gateway_ops.tunnel_options o ON o.tunnel_id = t.id
  WHERE t.status = 1 AND ($1::bigint[] IS NULL OR t.id = ANY ($1)) ORDER BY t.id`;

const HOSTS = `
  SELECT h.id, h.client_id AS "clientId", h.host, coalesce(h.location, '/') AS location,
    coalesce(o.strict_path, false) AS "strictPath", coalesce(h.scheme, 'all') AS scheme, h.target_addr AS "targetAddr", h.cert_path AS "certPath",
    h.key_path AS "keyPath", coalesce(h.auto_https, 0) = 1 AS "autoHttps",
    CASE WHEN k.id IS NOT NULL THEN json_build_object('chain', k.chain, 'sealedKey', k.sealed_key, 'names', k.names)
      END AS certificate, o.rewrite_host AS "rewriteHost", o.rewrite_path AS "rewritePath",
    coalesce(o.sticky, false) AS sticky, coalesce(o.max_body_bytes, 0)::float8 AS "maxBodyBytes",
    o.error_page AS "errorPage",
    coalesce(o.request_headers, '{}') AS "requestHeaders", coalesce(o.response_headers, '{}') AS "responseHeaders",
    coalesce(o.record_requests, 'off') AS "recordRequests", o.health_check AS "healthCheck",
    o.redirect, coalesce(o.compress, false) AS compress
  FROM tunnel_gateway.hosts h LEFT JOIN tunnel_gateway_ops.host_options o ON o.host_id = h.id
    LEFT JOIN tunnel_gateway_ops.certificates k ON k.host_id = h.id
  WHERE h.status = 1 AND ($1::bigint[] IS NULL OR h.id = ANY ($1)) ORDER BY h.id`;

/** Rules for the console are applied by the service, not by the edge. */
const IP_RULES = `
  SELECT r.id, r.scope, coalesce(r.resource_id, 0) AS "resourceId", r.type, r.pattern_kind AS kind, r.pattern,
    coalesce(r.priority, 0) AS priority, o.paths, o.methods
  FROM tunnel_gateway.ip_rules r LEFT JOIN tunnel_gateway_ops.ip_rule_options o ON o.rule_id = r.id
  WHERE r.scope <> 'console' AND ($1::bigint[] IS NULL OR r.id = ANY ($1)) ORDER BY r.id`;

const ADDRESS_LISTS = `
  SELECT l.id, l.name, l.content FROM tunnel_gateway_ops.address_lists l
  WHERE $1::bigint[] IS NULL OR l.id = ANY ($1) ORDER BY l.id`;

/** With `auth_policies` as `p`. */
export const POLICY_VERSION = `coalesce((extract(epoch FROM p.updated_at) * 1000)::bigint, 0)`;

const POLICIES = `
  SELECT p.id, p.resource_type AS kind, p.resource_id AS "resourceId", p.type, p.password,
    p.callback_url AS "callbackUrl", coalesce(o.copy_headers, '[]') AS "copyHeaders",
    coalesce(o.allow_private, false) AS "allowPrivate", o.oauth, o.sealed_secret AS "sealedSecret",
    coalesce(p.ttl_seconds, 7200) AS "ttlSeconds", ${POLICY_VERSION} AS version
  FROM tunnel_gateway.auth_policies p LEFT JOIN tunnel_gateway_ops.policy_options o ON o.policy_id = p.id
  WHERE p.enabled = 1`;

/** Ids of the rows to read; clients may also be selected by owner. */
export interface RowSelection {
  users: number[];
  clients: number[];
  tunnels: number[];
  hosts: number[];
  ipRules: number[];
  addressLists: number[];
  policies: number[];
}

/** Reads everything; rows that belong together are read in one snapshot. */
export async function readAllRows(queries: Queries): Promise<ConfigRows> {
  const revision = await readRevision(queries);
  return { revision, ...(await readRows(queries, null)) };
}

/** Null: all rows. */
export async function readRows(queries: Queries, wanted: RowSelection | null): Promise<Omit<ConfigRows, 'revision'>> {
  const rows = async <R extends object>(sql: string, ids: number[] | undefined, ...others: unknown[]): Promise<R[]> => {
    const nothing = wanted !== null && ids?.length === 0 && others.flat().length === 0;
    return nothing ? [] : (await queries.query<R>(sql, [ids ?? null, ...others])).rows;
  };
  return {
    clients: await rows<ClientRow>(CLIENTS, wanted?.clients, wanted?.users ?? []),
    tunnels: await rows<TunnelRow>(TUNNELS, wanted?.tunnels),
    hosts: await rows<HostRow>(HOSTS, wanted?.hosts),
    ipRules: await rows<IpRuleConfig>(IP_RULES, wanted?.ipRules),
    addressLists: await rows<AddressListRow>(ADDRESS_LISTS, wanted?.addressLists),
    policies: await rows<PolicyRow>(
      `${POLICIES} AND ($1::bigint[] IS NULL OR p.id = ANY ($1)) ORDER BY p.id`,
      wanted?.policies,
    ),
  };
}

export async function readRevision(queries: Queries): Promise<number> {
  const { rows } = await queries.query<{ revision: number }>('SELECT revision FROM tunnel_gateway_ops.config_revision');
  return rows[0]?.revision ?? 0;
}

/** The policies that apply to a tunnel: its own, else its client's. */
export async function readTunnelPolicies(queries: Queries, id: number, clientId: number): Promise<PolicyRow[]> {
  const sql = `${POLICIES}
    AND ((p.resource_type = 'tunnel' AND p.resource_id = $1) OR (p.resource_type = 'client' AND p.resource_id = $2))
    ORDER BY p.id`;
  const { rows } = await queries.query<PolicyRow>(sql, [id, clientId]);
  const own = rows.filter(({ kind }) => kind === 'tunnel');
  return own.length > 0 ? own : rows;
}

/**
 * Finds a client whose key is newer than the configuration, and the revision that has it. The key may be the former
 * one.
 */
export async function findClientByKey(
  queries: Queries,
  keyHash: string,
): Promise<{ row: ClientRow; revision: number } | null> {
  const sql = `
    SELECT ${CLIENT_COLUMNS}, (SELECT revision FROM tunnel_gateway_ops.config_revision) AS revision
    FROM ${CLIENT_TABLES}
    WHERE c.id IN (SELECT id FROM tunnel_gateway.clients WHERE verify_key = $1
      UNION ALL SELECT client_id FROM tunnel_gateway_ops.client_options WHERE previous_verify_key = $1)
    ORDER BY c.verify_key = $1 DESC LIMIT 1`;
  const { rows } = await queries.query<ClientRow & { revision: number }>(sql, [keyHash]);
  if (!rows[0]) return null;
  const { revision, ...row } = rows[0];
  return { row, revision };
}
