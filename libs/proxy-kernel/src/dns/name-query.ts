import { promises as dns } from 'node:dns';

export interface Answer {
  addresses: string[];
  /** Null if the source gives none, like getaddrinfo. */
  ttlMs: number | null;
  /** The name does not exist; absent: unknown. */
  missing?: boolean;
}

/** Asks once, without a cache. Rejects with the error of `node:dns`, whose `code` gives the reason. */
export type NameQuery = (host: string) => Promise<Answer>;

/** Asks the system: hosts file, name service switch and whatever else it is configured to use. */
export const querySystem: NameQuery = async (host) => {
  const found = await dns.lookup(host, { all: true, order: 'ipv4first' });
  return { addresses: found.map((entry) => entry.address), ttlMs: null };
};

/** The system's name servers, read each time because a machine moves between networks. */
export function systemServers(): string[] {
  return new dns.Resolver().getServers();
}

/** Asks name servers over UDP, and over TCP if the reply is truncated; `servers` as `address` or `address:port`. */
export function queryServers(servers: readonly string[], timeoutMs: number): NameQuery {
  const resolver = new dns.Resolver({ timeout: timeoutMs, tries: 1 });
  resolver.setServers([...servers]);
  return async (host) => {
    const [v4, v6] = await Promise.allSettled([
      resolver.resolve4(host, { ttl: true }),
      resolver.resolve6(host, { ttl: true }),
    ]);
    if (v4.status === 'rejected' && v6.status === 'rejected') throw moreTelling(v4.reason, v6.reason);
    const records = [v4, v6].flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    return {
      addresses: records.map((record) => record.address),
      ttlMs: Math.min(...records.map((record) => record.ttl)) * 1000,
    };
  };
}

/** The name is known to have no address only if both questions said so. */
function moreTelling(first: unknown, second: unknown): unknown {
  return isNoSuchName(first) ? second : first;
}

export function isNoSuchName(error: unknown): boolean {
  return ['ENOTFOUND', 'ENODATA', 'EAI_NONAME', 'EAI_NODATA'].includes(codeOf(error));
}

export function isTimeout(error: unknown): boolean {
  return codeOf(error) === 'ETIMEOUT';
}

export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}
