import { splitLine } from '../client-lines/line-options.js';
import { readQuantumultXGroups, readSurgeGroups } from './client-groups.js';
import { readQuantumultXRules, readSurgeRules } from './client-rules.js';
import { ClientSections } from './client-sections.js';
import type { Profile, ProfileDns } from './profile.js';

const MAX_HOSTS = 10_000;
/** Sections that are read, here or with the nodes. */
const READ: ReadonlySet<string> = new Set([
  'general',
  'host',
  'proxy',
  'proxy group',
  'remote proxy',
  'remote filter',
  'rule',
  'remote rule',
  'policy',
  'server_local',
  'server_remote',
  'filter_local',
  'filter_remote',
  'dns',
]);

/** What a configuration of Surge or Loon has besides its nodes. */
export function readSurgeProfile(text: string, profile: Profile): void {
  const sections = new ClientSections(text);
  readSurgeGroups(sections, profile);
  readSurgeRules(sections, profile);
  for (const { key, value } of sections.pairs('host')) addHost(profile, key, value);
  for (const { key, value } of sections.pairs('general')) addSetting(profile, key.toLowerCase(), value);
  addOtherSections(sections, profile);
}

/** What a configuration of Quantumult X has besides its nodes. */
export function readQuantumultXProfile(text: string, profile: Profile): void {
  const sections = new ClientSections(text);
  readQuantumultXGroups(sections, profile);
  readQuantumultXRules(sections, profile);
  for (const { key, value } of sections.pairs('dns')) addQuantumultXServer(profile, key.toLowerCase(), value);
  for (const { key } of sections.pairs('general')) profile.machineOptions.push(key);
  addOtherSections(sections, profile);
}

function addOtherSections({ headings }: ClientSections, profile: Profile): void {
  profile.machineOptions.push(...headings.filter((heading) => !READ.has(heading)).map((heading) => `[${heading}]`));
}

function addSetting(profile: Profile, key: string, value: string): void {
  if (key === 'dns-server' || key === 'encrypted-dns-server' || key === 'doh-server') {
    const servers = splitLine(value).filter((server) => server !== '');
    dnsOf(profile).nameservers.push(...servers);
  } else profile.machineOptions.push(key);
}

/** `*.dev` is every name below `dev`, as deep as one likes. */
function addHost(profile: Profile, key: string, value: string): void {
  const domain = key.toLowerCase().replace(/^\*\./, '.');
  const server = /^server:(.+)$/i.exec(value)?.[1]?.trim();
  if (server !== undefined)
    dnsOf(profile).policy[domain] = [server === 'system' || server === 'syslib' ? 'system' : server];
  else if (profile.hosts.length < MAX_HOSTS) profile.hosts.push({ domain, values: splitLine(value) });
}

/** `server=1.1.1.1`, `server=/a.example/1.1.1.1`, `address=/a.example/192.0.2.1`, `doh-server=https://…`. */
function addQuantumultXServer(profile: Profile, key: string, value: string): void {
  const [, domain, address] = /^\/([^/]+)\/(.+)$/.exec(value) ?? [];
  if (key === 'address' && domain !== undefined && address !== undefined) addHost(profile, domain, address);
  else if (domain !== undefined && address !== undefined) addHost(profile, domain, `server:${address}`);
  else if (key === 'server' || key === 'doh-server') dnsOf(profile).nameservers.push(...splitLine(value));
}

function dnsOf(profile: Profile): ProfileDns {
  profile.dns ??= { nameservers: [], bootstrap: [], policy: {}, otherOptions: [] };
  return profile.dns;
}
