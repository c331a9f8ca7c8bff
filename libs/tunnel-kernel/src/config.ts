import type { HostAndPort } from './environment.js';
import { TunnelError } from './errors.js';
import type { ResourceKind } from './resource.js';
import type { AgentHost, AgentTunnel, FileRoot, TargetAddress } from './wire/messages.js';

export const TUNNEL_MODES = ['tcp', 'udp', 'http_proxy', 'socks5', 'mix_proxy', 'secret', 'p2p', 'file'] as const;
export type TunnelMode = (typeof TUNNEL_MODES)[number];

/** Who runs an agent, and what all of its tunnels and hosts may use together. */
export interface ClientConfig {
  id: number;
  userId: number;
  enabled: boolean;
  /** Milliseconds since the epoch; from then on as if disabled. Null: never. */
  expiresAt: number | null;
  /** Bytes a second, both directions together; 0: no limit. */
  rateLimit: number;
  /** Connections at a time; 0: no limit. */
  maxConnections: number;
}

/** A tunnel as the administration has it. */
export interface TunnelConfig {
  id: number;
  clientId: number;
  mode: TunnelMode;
  /** Where visitors come in; port 0 lets the system choose. Not looked at in modes without a port (`secret`, `p2p`). */
  listen: HostAndPort;
  /** None in the proxy modes and in `file`. */
  targets: TargetAddress[];
  /** Header that targets get to know their visitors by. Absent: none. */
  proxyProtocol?: 1 | 2;
  /** Visitors come through a proxy that says who they are in a PROXY protocol header; only trusted ones are believed. */
  acceptProxyProtocol?: boolean;
  /** Proxy modes: what visitors may reach, as `host-pattern[:ports]`. Empty or absent: all that the agent allows. */
  destinations?: string[];
  /** Mode `file`. */
  file?: FileRoot;
  /** Modes `secret` and `p2p`: SHA-256 of the key that visitors show, hex. Without one nobody gets in. */
  visitorKeyHash?: string;
}

export interface HostTarget extends TargetAddress {
  scheme: 'http' | 'https' | 'h2c';
  /** Takes any certificate of an `https` target. */
  insecure: boolean;
}

/** A domain, or a part of one, that is served by a client's targets. */
export interface HostConfig {
  id: number;
  clientId: number;
  /** A-labels in lower case: `a.example.com`, `*.example.com` (one or more labels) or `*`. */
  host: string;
  /** Path that begins with a slash; takes what is below it, on segment boundaries. */
  location: string;
  /** Other spellings of the location, which its target might take for it, are refused. */
  strictPath?: boolean;
  /** Which visitors it takes. */
  scheme: 'all' | 'http' | 'https';
  targets: HostTarget[];
  /** PEM texts. Null: the server's own provider is asked by name. */
  certificate: { chain: string; key: string } | null;
  /** Answers http with a redirect to https. */
  redirectToHttps: boolean;
  /** Sent to targets as `Host`. Null: what the visitor said. */
  rewriteHost: string | null;
  /** Set on requests to targets in place of what the visitor said; an empty value takes the field away. */
  requestHeaders: Record<string, string>;
  /** Set on answers to visitors in place of what the target said; an empty value takes the field away. */
  responseHeaders: Record<string, string>;
}

export type IpRuleScope = 'global' | 'console' | 'user' | 'client' | ResourceKind;
export type IpPatternKind = 'exact' | 'cidr' | 'wildcard' | 'range' | 'country';

export interface IpRuleConfig {
  id: number;
  scope: IpRuleScope;
  /** 0 for `global` and `console`. */
  resourceId: number;
  type: 'allow' | 'deny';
  kind: IpPatternKind;
  pattern: string;
  /** The lower one is looked at first. */
  priority: number;
}

export type VisitorPolicyType = 'password' | 'basic' | 'callback' | 'oauth';

/** Where an authorization server is asked. One of `userinfoEndpoint` and `introspectionEndpoint` is needed. */
export interface OAuthEndpoints {
  authorizationEndpoint: string;
  tokenEndpoint: string;
  /** Asked with the token who the visitor is. OpenID Connect Core 5.3. */
  userinfoEndpoint?: string;
  /** RFC 7662. */
  introspectionEndpoint?: string;
  /** It says so in its metadata (RFC 9207): an answer without `iss` is from somebody else. */
  namesItself?: boolean;
  /** `userinfoEndpoint` is the profile of resource-sharing, which wants the client's secret as `X-API-Key`. */
  isProfile?: boolean;
}

/** This gateway as a client of an authorization server. */
export interface VisitorOAuthClient {
  /** Where `server` is absent, one of those that the server's environment knows. */
  issuer: string;
  clientId: string;
  /** Null: a public client, for which PKCE stands in. */
  clientSecret: string | null;
  scope?: string;
  server?: OAuthEndpoints;
  /** Who may come in, by `sub`, by name or by verified e-mail address. All absent or empty: everybody who can sign in. */
  subjects?: string[];
  names?: string[];
  emails?: string[];
}

/** One way in which visitors prove who they are; any one of a resource's is enough. */
export interface VisitorPolicyConfig {
  id: number;
  /** A client's policies are for those of its resources that have none. */
  resource: { kind: ResourceKind | 'client'; id: number };
  type: VisitorPolicyType;
  /** `password`: an encoded hash. `basic`: lines of `user:encoded-hash`. Null in the others. */
  password: string | null;
  callbackUrl: string | null;
  /** `callback`: fields of its answer that are set on requests to targets, in place of what visitors say. */
  copyHeaders?: string[];
  /**
   * `callback`, and `oauth` with a `server`: was set by an administrator, and may lead into the gateway's own network or
   * go without TLS.
   */
  allowPrivate?: boolean;
  /** `oauth`. Absent: nobody gets in this way. */
  oauth?: VisitorOAuthClient;
  /** How long one proof holds, seconds. 0: for this browser session, or this connection. */
  ttlSeconds: number;
  /** Grows with every change, which ends what was granted before. */
  version: number;
}

/** What a server is told to be: one immutable value. */
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
/** Modes that visitors come to through the agents' port. */
const WITHOUT_PORT: ReadonlySet<TunnelMode> = new Set(['secret', 'p2p']);
const WITHOUT_TARGETS: ReadonlySet<TunnelMode> = new Set(['http_proxy', 'socks5', 'mix_proxy', 'file']);

/** @throws TunnelError `protocol` naming what agents could not be told. */
export function checkConfig({ tunnels, hosts }: TunnelServerConfig): void {
  checkIds('tunnel', tunnels);
  checkIds('host', hosts);
  for (const { id, mode, targets, destinations, file } of tunnels) {
    const least = WITHOUT_TARGETS.has(mode) ? 0 : 1;
    checkTargets(`tunnel ${id}`, targets, least);
    if ((destinations?.length ?? 0) > MAX_DESTINATIONS || destinations?.some((text) => text.length > 300)) {
      throw new TunnelError('protocol', `tunnel ${id}: destinations`);
    }
    if ((mode === 'file') !== (file !== undefined)) throw new TunnelError('protocol', `tunnel ${id}: file`);
  }
  for (const { id, targets } of hosts) checkTargets(`host ${id}`, targets, 1);
}

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

/** What the agent of `clientId` is told. */
export function agentResources(
  { tunnels, hosts }: TunnelServerConfig,
  clientId: number,
): { tunnels: AgentTunnel[]; hosts: AgentHost[] } {
  return {
    tunnels: ownedBy(clientId, tunnels).map((tunnel) => ({
      id: tunnel.id,
      mode: tunnel.mode,
      entrance: WITHOUT_PORT.has(tunnel.mode) ? '' : `${tunnel.listen.host}:${tunnel.listen.port}`,
      targets: tunnel.targets,
      proxyProtocol: tunnel.proxyProtocol ?? 0,
      destinations: tunnel.destinations ?? [],
      file: tunnel.file ?? null,
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

/** Of lists that were looked at: a new configuration is told to every agent. */
const owners = new WeakMap<readonly Owned[], Map<number, Owned[]>>();

function ownedBy<T extends Owned>(clientId: number, resources: readonly T[]): readonly T[] {
  let byClient = owners.get(resources);
  if (!byClient) {
    byClient = Map.groupBy<number, Owned>(resources, (resource) => resource.clientId);
    owners.set(resources, byClient);
  }
  return (byClient.get(clientId) ?? []) as T[];
}
