import { isIP } from 'node:net';
import { createResolver, KernelConfigError } from '@gatehouse/proxy-kernel';
import type { Profile } from '@gatehouse/subscription-formats';
import type { ProfileOverlay } from '../data/profile.entity.js';
import type { ReportBuilder } from './profile-report.js';

/** What a profile says about names and sniffing, as far as the kernel can do it. */
export function planOverlay(profile: Profile, report: ReportBuilder): ProfileOverlay {
  const nameservers = serversOf('nameservers', profile.dns?.nameservers ?? [], report);
  const bootstrap = serversOf('bootstrap', profile.dns?.bootstrap ?? [], report);
  for (const option of profile.dns?.otherOptions ?? []) {
    report.add('dns', option, [{ outcome: 'left_out', reason: 'machine_setting' }]);
  }
  const policy: ProfileOverlay['policy'] = {};
  for (const [domain, servers] of Object.entries(profile.dns?.policy ?? {})) {
    const usable = servers.map(plainServer).filter((server) => isUsable({ policy: { [domain]: [server] } }));
    if (usable.length > 0) policy[domain] = usable;
    report.add('dns', domain, usable.length > 0 ? [] : [{ outcome: 'left_out', reason: 'server_kind' }]);
  }
  const { sniffer } = profile;
  if (sniffer) report.add('sniffer', sniffer.ports.join(', '), []);
  for (const option of sniffer?.otherOptions ?? []) {
    report.add('sniffer', option, [{ outcome: 'left_out', reason: 'option_ignored' }]);
  }
  const hosts = hostsOf(profile, report);
  return { nameservers, bootstrap, policy, hosts, sniffingPorts: sniffer?.ports.length ? sniffer.ports : null };
}

function serversOf(kind: 'nameservers' | 'bootstrap', servers: readonly string[], report: ReportBuilder): string[] {
  return servers.flatMap((written) => {
    const server = plainServer(written);
    const usable = isUsable({ [kind]: [server] });
    report.add('dns', written, usable ? [] : [{ outcome: 'left_out', reason: 'server_kind' }]);
    return usable ? [server] : [];
  });
}

/** Which version of HTTP is spoken says nothing about who answers; other options of mihomo may. */
function plainServer(server: string): string {
  return server.replace(/#h3=(?:true|false)$/i, '');
}

function hostsOf({ hosts }: Profile, report: ReportBuilder): ProfileOverlay['hosts'] {
  const found: ProfileOverlay['hosts'] = {};
  const valuesOf = new Map(hosts.map(({ domain, values }) => [domain, values]));
  for (const { domain, values } of hosts) {
    const addresses = addressesOf(values, valuesOf);
    const usable = addresses.length > 0 && domain !== '__proto__' && isUsable({ hosts: { [domain]: addresses } });
    if (usable) found[domain] = addresses;
    const reason = addresses.length > 0 ? 'unreadable' : 'host_alias';
    report.add('hosts', domain, usable ? [] : [{ outcome: 'left_out', reason }]);
  }
  return found;
}

/** How many names may stand for each other until there is an address. */
const MAX_ALIASES = 8;

/** The addresses of a host, also of one that has those of another host in the profile. */
function addressesOf(values: readonly string[], valuesOf: ReadonlyMap<string, readonly string[]>): string[] {
  let known = values;
  for (let step = 0; step < MAX_ALIASES; step++) {
    const addresses = known.filter((value) => isIP(value) !== 0);
    const [alias] = known;
    if (addresses.length > 0 || alias === undefined) return addresses;
    known = valuesOf.get(alias.toLowerCase()) ?? [];
  }
  return [];
}

/** Asks the kernel's own check, before it would refuse a whole configuration. */
function isUsable(part: Partial<Parameters<typeof createResolver>[0]>): boolean {
  try {
    createResolver({ nameservers: ['system'], ...part });
    return true;
  } catch (error) {
    if (error instanceof KernelConfigError) return false;
    throw error;
  }
}
