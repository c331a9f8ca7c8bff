import type { HostAndPort } from './environment.js';
import { TunnelError } from './errors.js';
import type { RecordLevel } from './recording/recorded-request.js';
import type { ResourceKind } from './resource.js';
import type { AgentHost, AgentTunnel, FileRoot, TargetAddress } from './wire/messages.js';

export const TUNNEL_MODES = ['tcp', 'udp', 'http_proxy', 'socks5', 'mix_proxy', 'secret', 'p2p', 'file'] as const;
export type TunnelMode = (typeof TUNNEL_MODES)[number];

/** The owner of an agent, with the limits that all of its tunnels and hosts share. */
export interface ClientConfig {
  id: number;
  userId: number;
  enabled: boolean;
  /** Milliseconds since the epoch; the client counts as disabled from then on. Null: never. */
  expiresAt: number | null;
  /** Bytes a second, both directions together; 0: no limit. */
  rateLimit: number;
  /** Concurrent connections; 0: no limit. */
  maxConnections: number;
}

/** Consecutive public ports of one tunnel, the first of which is its `listen.port`. */
export interface PortRange {
  /** 2 to `MAX_RANGE_PORTS`. */
  count: number;
  /** Each port leads to a port of its own at a target: the first to the target's port, and so on. Else all lead there. */
  mapped: boolean;
}

/** Each port is a listening socket, in modes `tcp` and `udp`. */
export const MAX_RANGE_PORTS = 1000;
const WITH_RANGE: ReadonlySet<TunnelMode> = new Set(['tcp', 'udp']);

/** Whether a tunnel of this mode may have several public ports. */
export function mayHaveRange(mode: TunnelMode): boolean {
  return WITH_RANGE.has(mode);
}

/** A tunnel as it is configured. */
export interface TunnelConfig {
  id: number;
  clientId: number;
  mode: TunnelMode;
  /** Where visitors connect; port 0 lets the system choose. Ignored in modes without a port (`secret`, `p2p`). */
  listen: HostAndPort;
  /** Absent: one port. */
  ports?: PortRange;
  /** Empty in the proxy modes and in `file`. */
  targets: TargetAddress[];
  /** Version of the PROXY protocol header that targets get. Absent: none. */
  proxyProtocol?: 1 | 2;
  /** Visitors connect through a proxy that names them in a PROXY protocol header; only trusted proxies are believed. */
  acceptProxyProtocol?: boolean;
  /** Proxy modes: what visitors may reach, as `host-pattern[:ports]`. Empty or absent: everything the agent allows. */
  destinations?: string[];
  /** Only in mode `file`. */
  file?: FileRoot;
  /** Bytes a second, both directions together, beside the limit of its client. Absent: no limit of its own. */
  rateLimit?: number;
  /** Modes `secret` and `p2p`: hex SHA-256 of the key that visitors must show. Without it nobody is admitted. */
  visitorKeyHash?: string;
}

export interface HostTarget extends TargetAddress {
  /** `tls`: the target itself speaks TLS with visitors, whose bytes pass as they are. Then all targets of the host do. */
  scheme: 'http' | 'https' | 'h2c' | 'tls';
  /** Accepts any certificate of an `https` target. */
  insecure: boolean;
}

export interface HostRedirect {
  /** An absolute URL, or a name: then the scheme and the port of the visitor stay. */
  to: string;
  status: 301 | 302 | 307 | 308;
  /** Path and query, as a target would get them, are appended. */
  keepPath: boolean;
}

/** How the targets of a host are checked between visits. */
export interface HealthCheckConfig {
  /** `tcp`: a connection is enough. Targets `tls` are checked like that only. */
  type: 'http' | 'tcp';
  /** What `GET` asks for, as the target sees it. */
  path: string;
  /** Statuses of a healthy target, both ends included. */
  expectedStatus: { from: number; to: number };
  /** Between the beginnings of checks. */
  intervalMs: number;
  timeoutMs: number;
  /** Checks in succession after which a target that was down is up again. */
  healthyThreshold: number;
  /** And after which one that was up is down. */
  unhealthyThreshold: number;
}

/** A domain name, or a path of one, that is served by a client's targets. */
export interface HostConfig {
  id: number;
  clientId: number;
  /** A-labels in lower case: `a.example.com`, `*.example.com` (one or more labels) or `*`. */
  host: string;
  /** Path that begins with a slash; matches everything below it, on segment boundaries. */
  location: string;
  /** Refuses other spellings of the location that its target might treat as the same. */
  strictPath?: boolean;
  /** Replaces the location at the beginning of paths for targets, without a trailing slash; `/` removes it. Absent: it stays. */
  rewritePath?: string;
  /** Visitors come back to the target that they had, by a cookie, while it can be reached. */
  sticky?: boolean;
  /** Bytes of the body of a request. Absent: no limit. */
  maxBodyBytes?: number;
  /**
   * HTML for browsers in place of the gateway's page about an error of this host; `{status}` and `{reason}` in it are
   * replaced. Absent: the gateway's own page.
   */
  errorPage?: string;
  /** Schemes that this host serves. */
  scheme: 'all' | 'http' | 'https';
  targets: HostTarget[];
  /** PEM texts. Null: the server asks its certificate provider for the name. */
  certificate: { chain: string; key: string } | null;
  /** Answers http with a redirect to https. */
  redirectToHttps: boolean;
  /** Sent to targets as `Host`. Null: the visitor's own. */
  rewriteHost: string | null;
  /** Set on requests to targets, overriding the visitor's; an empty value removes the field. */
  requestHeaders: Record<string, string>;
  /** Set on answers to visitors, overriding the target's; an empty value removes the field. */
  responseHeaders: Record<string, string>;
  /** Answers are compressed for visitors that accept it. */
  compress?: boolean;
  /** Visitors are sent elsewhere, and no target is asked. Absent: they are served. */
  redirect?: HostRedirect;
  /** Absent: targets are not checked. */
  healthCheck?: HealthCheckConfig;
  /** What is kept of its requests, for its owner. Absent: nothing. */
  record?: RecordLevel;
}

export type IpRuleScope = 'global' | 'console' | 'user' | 'client' | ResourceKind;
export type IpPatternKind = 'exact' | 'cidr' | 'wildcard' | 'range' | 'country' | 'asn' | 'any' | 'list';

export interface IpRuleConfig {
  id: number;
  scope: IpRuleScope;
  /** 0 for `global` and `console`. */
  resourceId: number;
  type: 'allow' | 'deny';
  kind: IpPatternKind;
  pattern: string;
  /** Lower numbers are evaluated first. */
  priority: number;
  /** Only for requests of hosts with these paths, as in `parseRulePath`. Null or absent: whatever the path. */
  paths?: readonly string[] | null;
  /** Only for requests with these methods. Null or absent: whatever the method. */
  methods?: readonly string[] | null;
}

export type VisitorPolicyType = 'password' | 'basic' | 'callback' | 'oauth';

/** Endpoints of an authorization server. Either `userinfoEndpoint` or `introspectionEndpoint` is required. */
export interface OAuthEndpoints {
  authorizationEndpoint: string;
  tokenEndpoint: string;
  /** Returns the identity behind a token. OpenID Connect Core 5.3. */
  userinfoEndpoint?: string;
  /** RFC 7662. */
  introspectionEndpoint?: string;
  /** The server's metadata promises `iss` in answers (RFC 9207): an answer without it is not from this server. */
  namesItself?: boolean;
  /** `userinfoEndpoint` is the profile endpoint of resource-sharing, which gets the client's secret as `X-API-Key`, if it has one. */
  isProfile?: boolean;
}

/** This gateway's registration as a client of an authorization server. */
export interface VisitorOAuthClient {
  /** Without `server`, it must be one of the servers in the environment. */
  issuer: string;
  clientId: string;
  /** Null: a public client, which relies on PKCE. */
  clientSecret: string | null;
  scope?: string;
  server?: OAuthEndpoints;
  /**
   * Who is admitted, by `sub`, by name or by verified e-mail address. All absent or empty: everybody who can sign in.
   */
  subjects?: string[];
  names?: string[];
  emails?: string[];
}

/** One way for visitors to authenticate; passing any one policy of a resource is enough. */
export interface VisitorPolicyConfig {
  id: number;
  /** A client's policies apply to those of its resources that have none of their own. */
  resource: { kind: ResourceKind | 'client'; id: number };
  type: VisitorPolicyType;
  /** `password`: an encoded hash. `basic`: lines of `user:encoded-hash`. Null for other types. */
  password: string | null;
  callbackUrl: string | null;
  /** `callback`: fields of its answer that are set on requests to targets, overriding the visitor's. */
  copyHeaders?: string[];
  /**
   * `callback`, and `oauth` with a `server`: set by an administrator, so it may point into the gateway's own network or
   * skip TLS.
   */
  allowPrivate?: boolean;
  /** Only in `oauth`. Absent: nobody is admitted by this policy. */
  oauth?: VisitorOAuthClient;
  /** How long one proof is valid, in seconds. 0: for this browser session or this connection. */
  ttlSeconds: number;
  /** Increases with every change; a change ends what was granted before it. */
  version: number;
}

/** The whole configuration of a server, as one immutable value. */
export interface TunnelServerConfig {
  revision: number;
  clients: ClientConfig[];
  tunnels: TunnelConfig[];
  hosts: HostConfig[];
  ipRules: IpRuleConfig[];
  policies: VisitorPolicyConfig[];
}

export const EMPTY_CONFIG: TunnelServerConfig = {
  revision: 0,
  clients: [],
  tunnels: [],
  hosts: [],
  ipRules: [],
  policies: [],
};

const MAX_TARGETS = 64;
const MAX_DESTINATIONS = 256;
/** Modes whose visitors connect to the port for agents. */
const WITHOUT_PORT: ReadonlySet<TunnelMode> = new Set(['secret', 'p2p']);
const WITHOUT_TARGETS: ReadonlySet<TunnelMode> = new Set(['http_proxy', 'socks5', 'mix_proxy', 'file']);

/** Checks what agents could not be sent. @throws TunnelError `protocol` naming the first problem. */
export function checkConfig({ tunnels, hosts }: TunnelServerConfig): void {
  checkIds('tunnel', tunnels);
  checkIds('host', hosts);
  for (const { id, mode, listen, ports, targets, destinations, file } of tunnels) {
    const least = WITHOUT_TARGETS.has(mode) ? 0 : 1;
    checkTargets(`tunnel ${id}`, targets, least);
    if (ports) checkRange(`tunnel ${id}`, { mode, listen, targets, ports });
    if ((destinations?.length ?? 0) > MAX_DESTINATIONS || destinations?.some((text) => text.length > 300)) {
      throw new TunnelError('protocol', `tunnel ${id}: destinations`);
    }
    if ((mode === 'file') !== (file !== undefined)) throw new TunnelError('protocol', `tunnel ${id}: file`);
  }
  for (const { id, targets } of hosts) checkTargets(`host ${id}`, targets, 1);
}

type Ranged = Pick<TunnelConfig, 'mode' | 'listen' | 'targets'> & { ports: PortRange };

function checkIds(kind: ResourceKind, resources: readonly { id: number }[]): void {
  const ids = new Set<number>();
  for (const { id } of resources) {
    if (!Number.isSafeInteger(id) || id < 0 || ids.has(id)) throw new TunnelError('protocol', `${kind} ${id}: id`);
    ids.add(id);
  }
}

function checkTargets(what: string, targets: readonly TargetAddress[], least: number): void {
  if (targets.length < least || targets.length > MAX_TARGETS) {
    throw new TunnelError('protocol', `${what}: ${least} to ${MAX_TARGETS} targets`);
  }
  for (const { host, port, weight } of targets) {
    const whole = Number.isInteger(port) && Number.isInteger(weight);
    const inRange = port >= 1 && port <= 65_535 && weight >= 1 && weight <= 1000;
    if (host === '' || host.length > 255 || !whole || !inRange) {
      throw new TunnelError('protocol', `${what}: target ${host}:${port}`);
    }
  }
}

function checkRange(what: string, { mode, listen, targets, ports }: Ranged): void {
  const { count, mapped } = ports;
  const sized = Number.isInteger(count) && count >= 2 && count <= MAX_RANGE_PORTS;
  const starts = [listen.port, ...(mapped ? targets.map(({ port }) => port) : [])];
  if (!mayHaveRange(mode) || !sized || starts.some((first) => first < 1 || first + count - 1 > 65_535)) {
    throw new TunnelError('protocol', `${what}: ports`);
  }
}

/** Modes that only agents know that can map ports: others refuse them, and do not connect to a wrong port. */
const MAPPED_MODES: Partial<Record<TunnelMode, string>> = { tcp: 'tcp_range', udp: 'udp_range' };

function entranceOf({ mode, listen: { host, port }, ports }: TunnelConfig): string {
  if (WITHOUT_PORT.has(mode)) return '';
  return `${host}:${port}${ports ? `-${port + ports.count - 1}` : ''}`;
}

/** The resources that are sent to the agent of `clientId`. */
export function agentResources(
  { tunnels, hosts }: TunnelServerConfig,
  clientId: number,
): { tunnels: AgentTunnel[]; hosts: AgentHost[] } {
  return {
    tunnels: ownedBy(clientId, tunnels).map((tunnel) => ({
      id: tunnel.id,
      mode: (tunnel.ports?.mapped && MAPPED_MODES[tunnel.mode]) || tunnel.mode,
      entrance: entranceOf(tunnel),
      targets: tunnel.targets,
      proxyProtocol: tunnel.proxyProtocol ?? 0,
      destinations: tunnel.destinations ?? [],
      file: tunnel.file ?? null,
      ...(tunnel.ports?.mapped && { ports: { first: tunnel.listen.port, count: tunnel.ports.count } }),
    })),
    hosts: ownedBy(clientId, hosts).map(({ id, host, location, targets }) => ({
      id,
      name: `${host}${location}`,
      targets: targets.map(({ host, port, weight }) => ({ host, port, weight })),
    })),
  };
}

interface Owned {
  clientId: number;
}

/** Cached per list: every new configuration is sent to every agent. */
const owners = new WeakMap<readonly Owned[], Map<number, Owned[]>>();

function ownedBy<T extends Owned>(clientId: number, resources: readonly T[]): readonly T[] {
  let byClient = owners.get(resources);
  if (!byClient) {
    byClient = Map.groupBy<number, Owned>(resources, (resource) => resource.clientId);
    owners.set(resources, byClient);
  }
  return (byClient.get(clientId) ?? []) as T[];
}
