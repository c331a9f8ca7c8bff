import { isIP } from 'node:net';
import { KernelConfigError } from '../interfaces/kernel.js';
import { CachingResolver, type CacheSettings, DEFAULT_CACHE, type SystemResolver } from './caching-resolver.js';
import { type NameQuery, querySystem, queryServers } from './name-query.js';

export type { SystemResolver } from './caching-resolver.js';
export { createFakeIpPool, withRealName, type FakeIpPool } from './fake-ip.js';
export { createNameService, createResolver, type NameService, type ResolverOptions } from './resolver.js';
export { DnsServer, type DnsServerOptions } from './dns-server.js';
export type { DnsSource } from './responder.js';
export { systemServers } from './name-query.js';
export { parseNameServer } from './name-server.js';

export interface SystemResolverOptions extends Partial<CacheSettings> {
  /** Fixed answers by name in lower case, used before anything is asked. */
  hosts?: ReadonlyMap<string, readonly string[]>;
  /** Name servers as `address` or `address:port`. Absent or empty: the system is asked. */
  servers?: readonly string[];
}

/**
 * A resolver over the system or over given name servers: with a cache, one question per name at a time, and IPv4 before
 * IPv6.
 * @throws KernelConfigError for an invalid entry of `hosts` or `servers`.
 */
export function createSystemResolver(options: SystemResolverOptions = {}): SystemResolver {
  const { hosts = new Map<string, readonly string[]>(), servers = [], ...cache } = options;
  const settings = { ...DEFAULT_CACHE, ...cache };
  for (const [name, addresses] of hosts) {
    const bad = addresses.find((address) => isIP(address) === 0);
    if (bad !== undefined)
      throw new KernelConfigError(`hosts[${JSON.stringify(name)}]`, `${JSON.stringify(bad)} is not an address`);
  }
  const query = servers.length > 0 ? serverQuery(servers, settings.timeoutMs) : querySystem;
  return new CachingResolver(settings, query, (name) => hosts.get(name) ?? null);
}

function serverQuery(servers: readonly string[], timeoutMs: number): NameQuery {
  try {
    return queryServers(servers, timeoutMs);
  } catch (error) {
    throw new KernelConfigError('servers', error instanceof Error ? error.message : 'not a list of name servers');
  }
}
