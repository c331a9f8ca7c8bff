import type { ProfileReason } from '@gatehouse/contracts';
import type { Profile, ProfileDns } from './profile.js';
import { isFields, textsIn, Unwritable, type Fields } from './sing-box-conditions.js';

const MAX_HOSTS = 10_000;
const MAX_SERVERS = 200;
const READ = new Set(['servers', 'rules', 'final']);
/** Keys of rules that say no condition. */
const IDLE = new Set(['action', 'server', 'disable_cache', 'rewrite_ttl', 'strategy', 'client_subnet']);
const CONDITIONS: Readonly<Record<string, (value: string) => string>> = {
  domain: (value) => value,
  domain_suffix: (value) => (value.startsWith('.') ? value : `+.${value}`),
  geosite: (value) => `geosite:${value}`,
  rule_set: (value) => `rule-set:${value}`,
};
const SCHEMES: Readonly<Record<string, string>> = { udp: '', tcp: 'tcp://', tls: 'tls://', https: 'https://' };

/** How queries leave. */
export interface Ways {
  /** The outbound that servers of the old form are asked through. */
  usual: string | undefined;
  isDirect: (outbound: string) => boolean;
}

/** What servers of the document are here. */
interface Servers {
  /** Null: one that has no address to ask. */
  addressOf: ReadonlyMap<string, string | null>;
  first: string | undefined;
}

/** The `dns` of a configuration: the last server, those for some names, and fixed addresses. */
export function readSingBoxDns(dns: unknown, ways: Ways, profile: Profile): void {
  if (!isFields(dns)) return;
  const list = Array.isArray(dns['servers']) ? dns['servers'].filter(isFields).slice(0, MAX_SERVERS) : [];
  const servers = readServers(list, ways, profile);
  const found: ProfileDns = { nameservers: [], bootstrap: [], policy: {}, otherOptions: [] };
  const last = typeof dns['final'] === 'string' ? dns['final'] : servers.first;
  const address = last === undefined ? undefined : servers.addressOf.get(last);
  if (address) found.nameservers.push(address);
  for (const resolver of resolversOf(list)) {
    const bootstrap = servers.addressOf.get(resolver);
    if (bootstrap) found.bootstrap.push(bootstrap);
  }
  const rules = Array.isArray(dns['rules']) ? (dns['rules'] as unknown[]) : [];
  const policy = new Map<string, string[]>();
  for (const rule of rules) addRule(rule, servers, policy, profile);
  policy.delete('__proto__');
  found.policy = Object.fromEntries(policy);
  found.otherOptions = Object.keys(dns).filter((key) => !READ.has(key));
  profile.dns = found;
}

function readServers(list: readonly Fields[], ways: Ways, profile: Profile): Servers {
  const addressOf = new Map<string, string | null>();
  for (const server of list) {
    const tag = typeof server['tag'] === 'string' ? server['tag'] : '';
    if (server['type'] === 'hosts') addHosts(server, profile);
    addressOf.set(tag, typeof server['address'] === 'string' ? oldForm(server, ways) : newForm(server, ways));
  }
  const first = list.find(({ type }) => type !== 'hosts' && type !== 'fakeip')?.['tag'];
  return { addressOf, first: typeof first === 'string' ? first : undefined };
}

/** Since 1.12: a type, a server and a port. */
function newForm(server: Fields, ways: Ways): string | null {
  const { type, server: host, server_port: port, path, detour } = server;
  if (type === 'local') return 'system';
  if (typeof host !== 'string' || typeof type !== 'string') return null;
  const scheme = Object.hasOwn(SCHEMES, type) ? SCHEMES[type] : `${type}://`;
  const authority = `${host.includes(':') ? `[${host}]` : host}${port === undefined ? '' : `:${String(port as number)}`}`;
  const rest = type === 'https' ? (typeof path === 'string' ? path : '/dns-query') : '';
  return `${scheme}${authority}${rest}${asked(detour, ways)}`;
}

/** Before 1.12: an address; a server without a detour is asked through the default outbound. */
function oldForm({ address, detour }: Fields, ways: Ways): string | null {
  const text = String(address as string);
  if (text === 'local') return 'system';
  if (text === 'fakeip' || /^(?:rcode|dhcp):/.test(text)) return null;
  return `${text}${asked(detour ?? ways.usual, ways)}`;
}

/** Queries that go through a proxy must not go out directly, so they are said as mihomo says them. */
function asked(detour: unknown, { isDirect }: Ways): string {
  return typeof detour === 'string' && detour !== '' && !isDirect(detour) ? `#${detour}` : '';
}

/** Servers that the names of other servers are asked from. */
function resolversOf(list: readonly Fields[]): string[] {
  const tags = list.flatMap(({ address_resolver: old, domain_resolver: resolver }) => {
    const named = isFields(resolver) ? resolver['server'] : resolver;
    return [old, named].filter((tag) => typeof tag === 'string');
  });
  return [...new Set(tags)];
}

function addHosts({ predefined }: Fields, profile: Profile): void {
  for (const [name, value] of isFields(predefined) ? Object.entries(predefined) : []) {
    const values = (Array.isArray(value) ? (value as unknown[]) : [value]).filter((item) => typeof item === 'string');
    if (profile.hosts.length < MAX_HOSTS) profile.hosts.push({ domain: name.toLowerCase(), values });
  }
}

function addRule(rule: unknown, { addressOf }: Servers, policy: Map<string, string[]>, profile: Profile): void {
  try {
    if (!isFields(rule)) throw new Unwritable('unreadable');
    const { server, action = 'route', clash_mode: mode } = rule;
    if (typeof mode === 'string' || action !== 'route' || 'outbound' in rule) throw new Unwritable('machine_setting');
    const foreign = Object.keys(rule).some((key) => !IDLE.has(key) && !Object.hasOwn(CONDITIONS, key));
    if (foreign) throw new Unwritable('condition_unknown');
    const address = typeof server === 'string' ? addressOf.get(server) : undefined;
    // Names with fixed addresses are hosts already; others are answered by the machine that the profile is for.
    if (!address) throw new Unwritable('machine_setting');
    for (const [key, write] of Object.entries(CONDITIONS)) {
      for (const value of textsIn(rule, key)) if (!policy.has(write(value))) policy.set(write(value), [address]);
    }
  } catch (error) {
    if (!(error instanceof Unwritable)) throw error;
    drop(profile, rule, error.reason);
  }
}

function drop(profile: Profile, rule: unknown, reason: ProfileReason): void {
  const name = (JSON.stringify(rule) ?? '').slice(0, 200);
  profile.dropped.push({ section: 'dns', name, outcome: 'left_out', reason });
}
