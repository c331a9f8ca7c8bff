import { isIP } from 'node:net';
import type { DnsConfig } from '../interfaces/config.js';
import { KernelConfigError } from '../interfaces/kernel.js';
import { CachingResolver, type CacheSettings, DEFAULT_CACHE, type SystemResolver } from './caching-resolver.js';
import { DomainMap } from './domain-map.js';
import { type NameServer, parseNameServers } from './name-server.js';
import type { Question } from './message.js';
import { type Upstream, type UpstreamOptions, askInTurn } from './upstream.js';

export interface ResolverOptions extends Partial<CacheSettings> {
  /** The limit for one question to one name server; 2 s. */
  attemptMs?: number;
  /** Certificate authority of name servers over HTTPS, as PEM; absent: the system's. */
  ca?: string;
  /** The system's name servers; absent: those it is configured with. */
  systemServers?: () => readonly string[];
}

const ATTEMPT_MS = 2000;

/** The source of a DNS listener's answers. */
export interface NameService {
  readonly resolver: SystemResolver;
  /**
   * Forwards a question of another type to the name servers of its name; equal questions are asked once at a time.
   * @throws Error if none of them can answer.
   */
  forward(question: Question): Promise<Buffer>;
}

/**
 * Creates the configured resolver: name servers in turn, other ones by domain, fixed answers, a cache, one question per
 * name at a time, and IPv4 before IPv6.
 * @throws KernelConfigError naming the element (`dns.nameservers[1]`).
 */
export function createResolver(config: DnsConfig, options: ResolverOptions = {}): SystemResolver {
  return createNameService(config, options).resolver;
}

/** @throws KernelConfigError naming the element. */
export function createNameService(config: DnsConfig, options: ResolverOptions = {}): NameService {
  const { attemptMs = ATTEMPT_MS, ca, systemServers, ...cache } = options;
  const settings = { ...DEFAULT_CACHE, ...cache };
  const bootstrap = createBootstrap(config, settings, attemptMs);
  const upstream: UpstreamOptions = { attemptMs, ca, bootstrap, systemServers };
  const general = askInTurn(parseNameServers(config.nameservers, 'dns.nameservers'), upstream);
  const policy = createPolicy(config, upstream);
  const hosts = createHosts(config.hosts ?? {});
  const resolver = new CachingResolver(
    settings,
    (name) => (policy.get(name) ?? general).query(name),
    (name) => hosts.get(name),
  );
  return { resolver, forward: onceAtATime((question) => (policy.get(question.name) ?? general).forward(question)) };
}

/** Concurrent callers share a reply; this also ends a loop with a name server that asks back here. */
function onceAtATime(forward: NameService['forward']): NameService['forward'] {
  const pending = new Map<string, Promise<Buffer>>();
  return (question) => {
    const key = JSON.stringify(question);
    const running = pending.get(key) ?? forward(question).finally(() => pending.delete(key));
    pending.set(key, running);
    return running;
  };
}

/** Resolves the host names of name servers. */
function createBootstrap(config: DnsConfig, settings: CacheSettings, attemptMs: number): UpstreamOptions['bootstrap'] {
  const servers = parseNameServers(config.bootstrap ?? ['system'], 'dns.bootstrap');
  for (const [index, server] of servers.entries()) {
    if (server.kind === 'system' || isIP(server.host) !== 0) continue;
    throw new KernelConfigError(`dns.bootstrap[${index}]`, `${server.host} is not an address`);
  }
  const refuse = (): Promise<never> => Promise.reject(new Error('a bootstrap server has an address'));
  const { query } = askInTurn(servers, { attemptMs, bootstrap: refuse });
  const resolver = new CachingResolver(settings, query, () => null);
  return (host, signal) => resolver.resolve(host, signal);
}

function createPolicy(config: DnsConfig, upstream: UpstreamOptions): DomainMap<Upstream> {
  const queries = Object.entries(config.policy ?? {}).map(([domain, texts]) => {
    const servers: NameServer[] = parseNameServers(texts, `dns.policy[${JSON.stringify(domain)}]`);
    return [domain, askInTurn(servers, upstream)] as const;
  });
  return new DomainMap(Object.fromEntries(queries), 'dns.policy');
}

function createHosts(hosts: Record<string, string[]>): DomainMap<readonly string[]> {
  for (const [domain, addresses] of Object.entries(hosts)) {
    const bad = addresses.find((address) => isIP(address) === 0);
    if (bad === undefined) continue;
    const shown = JSON.stringify(bad.slice(0, 80));
    throw new KernelConfigError(`dns.hosts[${JSON.stringify(domain)}]`, `${shown} is not an address`);
  }
  return new DomainMap(hosts, 'dns.hosts');
}
