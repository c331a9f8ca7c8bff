import { isIP } from 'node:net';
import { createFakeIpPool, createResolver, KernelConfigError } from '@gatehouse/proxy-kernel';
import { listenAddress } from './preference-types.js';
import type { PreferenceType } from './preference-types.js';

const MAX_LENGTH = 65_536;
const ANY_RANGE = '198.18.0.0/16';

/**
 * Name servers, of which the first to answer wins: `1.1.1.1`, `tcp://8.8.8.8`, `https://dns.example/dns-query`,
 * `system`.
 */
export function nameServers(key: 'nameservers' | 'bootstrap'): PreferenceType<string[]> {
  return {
    defaultText: '',
    parse(text) {
      const servers = words(text);
      if (servers.length > 0) check(() => createResolver({ nameservers: ['system'], [key]: servers }));
      return servers;
    },
  };
}

/**
 * `domain=server,server` entries separated by spaces, with domains in Clash's wildcards; for `hosts` addresses instead
 * of servers.
 */
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
      const repeated = entries.find(([domain], index) => entries.findIndex(([other]) => other === domain) < index);
      if (repeated) throw new Error(`must name each domain once: ${repeated[0]}`);
      if (entries.length > 0) check(() => createResolver({ nameservers: ['system'], [key]: map }));
      return map;
    },
  };
}

/** An unused IPv4 range, whose addresses stand for names. */
export function fakeIpRange(defaultText: string): PreferenceType<string> {
  return {
    defaultText,
    parse(text) {
      const range = text.trim();
      check(() => createFakeIpPool(range));
      return range;
    },
  };
}

/** Names that keep their real addresses, in Clash's wildcards, separated by spaces or commas. */
export function fakeIpFilter(defaultText: string): PreferenceType<string[]> {
  return {
    defaultText,
    parse(text) {
      const names = words(text).flatMap((word) => word.split(',').filter((name) => name !== ''));
      check(() => createFakeIpPool(ANY_RANGE, names));
      return names;
    },
  };
}

/** The address of the name server for others: `address:port`, `:port` at the kernel's address, empty for none. */
export function dnsListen(): PreferenceType<{ address: string | null; port: number } | null> {
  const any = listenAddress();
  return {
    defaultText: '',
    parse(text) {
      const listen = any.parse(text);
      if (!listen?.address || isIP(listen.address) !== 0) return listen;
      throw new Error(
        'must be address:port such as 127.0.0.1:1053 or [::1]:1053, or :port; names have to be addresses',
      );
    },
  };
}

function words(text: string): string[] {
  if (text.length > MAX_LENGTH) throw new Error(`must be at most ${MAX_LENGTH} characters`);
  return text.split(/\s+/).filter((word) => word !== '');
}

/** Checks a value in the kernel's own way, before it becomes part of a configuration. */
function check(make: () => unknown): void {
  try {
    make();
  } catch (error) {
    if (!(error instanceof KernelConfigError)) throw error;
    throw new Error(`must be usable: ${error.message}`, { cause: error });
  }
}
