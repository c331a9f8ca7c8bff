import { createResolver, KernelConfigError } from '@gatehouse/proxy-kernel';
import type { DnsConfig } from '@gatehouse/proxy-kernel';
import type { PreferenceType } from './preference-types.js';

const MAX_LENGTH = 65_536;

/** Name servers, the first that answers wins: `1.1.1.1`, `tcp://8.8.8.8`, `https://dns.example/dns-query`, `system`. */
export function nameServers(key: 'nameservers' | 'bootstrap'): PreferenceType<string[]> {
  return {
    defaultText: '',
    parse(text) {
      const servers = words(text);
      if (servers.length > 0) check({ nameservers: ['system'], [key]: servers });
      return servers;
    },
  };
}

/** `domain=server,server` entries separated by spaces, domains in Clash wildcards; addresses instead for `hosts`. */
export function byDomain(key: 'policy' | 'hosts'): PreferenceType<Record<string, string[]>> {
  return {
    defaultText: '',
    parse(text) {
      const entries = words(text).map((word) => {
        const [domain = '', values = ''] = word.split(/=(.*)/s, 2);
        if (domain === '' || values === '') throw new Error('must be entries such as +.example.com=192.0.2.1');
        return [domain, values.split(',')] as const;
      });
      const map = Object.fromEntries(entries);
      if (entries.length > 0) check({ nameservers: ['system'], [key]: map });
      return map;
    },
  };
}

function words(text: string): string[] {
  if (text.length > MAX_LENGTH) throw new Error(`must be at most ${MAX_LENGTH} characters`);
  return text.split(/\s+/).filter((word) => word !== '');
}

/** The kernel's own judgement, before a configuration is made of it. */
function check(config: DnsConfig): void {
  try {
    createResolver(config);
  } catch (error) {
    if (!(error instanceof KernelConfigError)) throw error;
    throw new Error(`must be usable: ${error.message}`, { cause: error });
  }
}
