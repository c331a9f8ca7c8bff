import type { HealthCheckConfig, HostConfig, TunnelConfig, TunnelServerConfig } from '@gatehouse/tunnel-kernel';
import type { StoredHealthCheck } from '../data/host.entity.js';
import { parseStatusRange } from '../common/status-range.js';
import { legibleRules } from '../common/legible-rules.js';
import { parseHostTargets, parseTunnelTargets } from '../common/targets.js';
import type { ConfigRows, HostRow, TunnelRow } from '../common/config-rows.js';
import { isVisitorKey, toPolicy, visitorKeysOf, type OpenSecret } from '../common/policy-mapper.js';

export interface Certificate {
  chain: string;
  key: string;
}

/** The certificate from a host's files; null if there is no usable one. */
export type CertificateSource = (host: HostRow) => Certificate | null;

export interface MappedConfig {
  config: TunnelServerConfig;
  /** By id: why an enabled tunnel is left out. */
  tunnelProblems: Map<number, string>;
  /** By id: why a host is left out. */
  hostProblems: Map<number, string>;
  /** By id: why a rule matches nothing. */
  ruleProblems: Map<number, string>;
}

const KIBIBYTE = 1024;

/** Unchanged rows are the same objects in the next configuration. */
const tunnelTargets = onceFor((row: TunnelRow) => parseTunnelTargets(row.mode, row.targetAddr, row.portCount ?? 1));
const hostTargets = onceFor((row: HostRow) => parseHostTargets(row.targetAddr));

/** The configuration for the tunnel server. Invalid rows are left out one by one. */
export function toServerConfig(
  rows: ConfigRows,
  certificateOf: CertificateSource,
  openSecret: OpenSecret = () => null,
): MappedConfig {
  const tunnelProblems = new Map<number, string>();
  const hostProblems = new Map<number, string>();
  const ruleProblems = new Map<number, string>();
  const visitorKeys = visitorKeysOf(rows.policies);
  const tunnels = collect(rows.tunnels, tunnelProblems, (row) => toTunnel(row, visitorKeys));
  const hosts = collect(rows.hosts, hostProblems, (row) => toHost(row, certificateOf(row)));
  const config: TunnelServerConfig = {
    revision: rows.revision,
    clients: rows.clients.map(({ id, userId, enabled, expiresAt, rateLimit, maxConnections }) => ({
      id,
      userId,
      enabled,
      expiresAt,
      rateLimit: rateLimit * KIBIBYTE,
      maxConnections,
    })),
    tunnels,
    hosts,
    ipRules: legibleRules(rows.ipRules, ({ id }, problem) => ruleProblems.set(id, problem)),
    policies: rows.policies.filter((policy) => !isVisitorKey(policy)).map((policy) => toPolicy(policy, openSecret)),
  };
  return { config, tunnelProblems, hostProblems, ruleProblems };
}

function collect<R extends { id: number }, T>(
  rows: readonly R[],
  problems: Map<number, string>,
  map: (row: R) => T,
): T[] {
  return rows.flatMap((row) => {
    try {
      return [map(row)];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      problems.set(row.id, error.message);
      return [];
    }
  });
}

function toTunnel(row: TunnelRow, visitorKeys: ReadonlyMap<number, string>): TunnelConfig {
  const { id, clientId, mode, listenIp, listenPort, proxyProtocol, acceptProxyProtocol, rateLimit = 0 } = row;
  const visitorKeyHash = visitorKeys.get(id);
  const parsed = tunnelTargets(row);
  if (parsed.ports && (listenPort < 1 || listenPort + parsed.ports.count > 65_536)) {
    throw new RangeError('its ports must be from 1 to 65535');
  }
  return {
    id,
    clientId,
    mode,
    listen: { host: listenIp, port: listenPort },
    ...parsed,
    ...(proxyProtocol !== 0 && { proxyProtocol }),
    acceptProxyProtocol,
    ...(rateLimit > 0 && { rateLimit: rateLimit * KIBIBYTE }),
    ...(visitorKeyHash !== undefined && { visitorKeyHash }),
  };
}

function toHost(row: HostRow, certificate: Certificate | null): HostConfig {
  const { id, clientId, host, location, strictPath, scheme, rewriteHost, requestHeaders, responseHeaders } = row;
  const {
    recordRequests: record = 'off',
    rewritePath = null,
    sticky = false,
    maxBodyBytes = 0,
    errorPage = null,
    healthCheck = null,
    redirect = null,
    compress = false,
  } = row;
  return {
    id,
    clientId,
    host,
    location,
    ...(strictPath === true && { strictPath }),
    ...(rewritePath !== null && { rewritePath }),
    ...(sticky && { sticky }),
    ...(maxBodyBytes > 0 && { maxBodyBytes }),
    ...(errorPage !== null && { errorPage }),
    scheme,
    targets: hostTargets(row),
    certificate,
    redirectToHttps: row.autoHttps && scheme === 'all',
    rewriteHost,
    requestHeaders,
    responseHeaders,
    ...(compress && { compress }),
    ...(redirect !== null && {
      redirect: { to: redirect.to, status: redirect.status, keepPath: redirect.keep_path },
    }),
    ...(healthCheck !== null && { healthCheck: toHealthCheck(healthCheck) }),
    ...(record !== 'off' && { record }),
  };
}

function toHealthCheck(stored: StoredHealthCheck): HealthCheckConfig {
  const { type, path } = stored;
  const { from, to } = parseStatusRange(stored.expected_status);
  return {
    type,
    path,
    expectedStatus: { from, to },
    intervalMs: stored.interval_seconds * 1000,
    timeoutMs: stored.timeout_seconds * 1000,
    healthyThreshold: stored.healthy_threshold,
    unhealthyThreshold: stored.unhealthy_threshold,
  };
}

function onceFor<R extends object, T extends object>(map: (row: R) => T): (row: R) => T {
  const known = new WeakMap<R, T>();
  return (row) => {
    const found = known.get(row) ?? map(row);
    known.set(row, found);
    return found;
  };
}
