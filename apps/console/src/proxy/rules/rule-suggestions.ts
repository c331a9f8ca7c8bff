import type { ConnectionView } from '@gatehouse/contracts';

/** A rule that would match a connection. */
export interface RuleSuggestion {
  type: 'DOMAIN-SUFFIX' | 'DOMAIN' | 'IP-CIDR' | 'IP-CIDR6' | 'SRC-IP-CIDR' | 'DST-PORT';
  payload: string;
  no_resolve: boolean;
}

type Ends = Pick<
  ConnectionView,
  'host' | 'sniff_host' | 'destination_ip' | 'remote_destination' | 'node_id' | 'destination_port' | 'source_ip'
>;

/** Rules that match the connection, the most usual first. */
export function suggestRules(ends: Ends): RuleSuggestion[] {
  const name = [ends.host, ends.sniff_host].find((host) => host != null && !isAddress(host)) ?? null;
  const suffix = name === null ? null : registrablePart(name);
  const address = addressOf(ends);
  return [
    ...(suffix === null ? [] : [suggestion('DOMAIN-SUFFIX', suffix)]),
    ...(name === null ? [] : [suggestion('DOMAIN', name)]),
    ...(address === null ? [] : [{ ...suggestion(cidrType(address), single(address)), no_resolve: true }]),
    suggestion('SRC-IP-CIDR', single(ends.source_ip)),
    suggestion('DST-PORT', String(ends.destination_port)),
  ];
}

function suggestion(type: RuleSuggestion['type'], payload: string): RuleSuggestion {
  return { type, payload, no_resolve: false };
}

/** The destination itself: what a node connects to is the node's server. */
function addressOf({ host, destination_ip: ip, remote_destination: remote, node_id: node }: Ends): string | null {
  if (ip !== null) return ip;
  if (host !== null && isAddress(host)) return host;
  return node === null && remote !== null && isAddress(remote) ? remote : null;
}

function isAddress(text: string): boolean {
  return text.includes(':') || /^\d+(?:\.\d+){3}$/.test(text);
}

function cidrType(address: string): 'IP-CIDR' | 'IP-CIDR6' {
  return address.includes(':') ? 'IP-CIDR6' : 'IP-CIDR';
}

function single(address: string): string {
  return `${address}/${address.includes(':') ? 128 : 32}`;
}

/** Second labels below which countries hand out names: `example.co.uk`, `example.com.cn`. */
const SECOND_LABELS = new Set([
  'ac',
  'co',
  'com',
  'edu',
  'go',
  'gob',
  'gov',
  'ltd',
  'mil',
  'ne',
  'net',
  'nom',
  'or',
  'org',
]);

/**
 * The part of a name that its owner has registered, as far as that can be seen without the list of public suffixes: it is
 * a suggestion that people can change. A name of one label has none.
 */
export function registrablePart(name: string): string | null {
  const labels = name.toLowerCase().replace(/\.$/, '').split('.');
  if (labels.length < 2) return null;
  const [second = '', country = ''] = labels.slice(-2);
  const isBelowCountry = country.length === 2 && SECOND_LABELS.has(second) && labels.length > 2;
  return labels.slice(isBelowCountry ? -3 : -2).join('.');
}
