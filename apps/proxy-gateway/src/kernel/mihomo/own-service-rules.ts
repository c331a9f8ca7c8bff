import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { formatCidr, hostCidr, parseIp } from '@gatehouse/net';
import type { Endpoint, GuardConfig, Resolver } from '@gatehouse/proxy-kernel';

/** Including the prefix of IPv4 addresses that are written as IPv6. */
const ALWAYS_LOCAL = ['127.0.0.0/8', '0.0.0.0/32', '::1/128', '::/128', '::ffff:0:0/96'];

/**
 * Rules that keep mihomo away from the platform's own services, to be placed before all others. The addresses of this
 * machine and of the services' names are those at the time of the configuration; no rule can open them.
 */
export async function ownServiceRules(guard: GuardConfig | undefined, resolver: Resolver): Promise<string[]> {
  const lines = await Promise.all((guard?.own ?? []).map((own) => linesFor(own, resolver)));
  return [...new Set(lines.flat())];
}

async function linesFor({ host, port }: Endpoint, resolver: Resolver): Promise<string[]> {
  const isName = host !== '*' && isIP(host) === 0;
  const addresses = host === '*' ? ['127.0.0.1'] : isName ? await resolver.resolve(host).catch(() => []) : [host];
  const own = addresses.flatMap(prefixOf);
  const local = [...ALWAYS_LOCAL, ...machineAddresses().flatMap(prefixOf)];
  const isLocal =
    addresses.some((address) => /^(127\.|0\.0\.0\.0$|::1?$)/.test(address)) || own.some((one) => local.includes(one));
  // The port comes first, so that names are resolved for these ports only.
  const conditions = [...own, ...(isLocal ? local : [])].map((prefix) => `${typeOf(prefix)},${prefix}`);
  if (isName) conditions.push(`DOMAIN,${host}`);
  return conditions.map((condition) => `AND,((DST-PORT,${port}),(${condition})),REJECT`);
}

function machineAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
}

function prefixOf(address: string): string[] {
  const ip = parseIp(address);
  return ip ? [formatCidr(hostCidr(ip))] : [];
}

function typeOf(prefix: string): 'IP-CIDR' | 'IP-CIDR6' {
  return prefix.includes(':') ? 'IP-CIDR6' : 'IP-CIDR';
}
