import { cidrContains, hostCidr, parseCidr, parseIp } from '@gatehouse/net';
import type { HostAndPort } from '@gatehouse/tunnel-kernel';
import { Complaint, type Problems } from './command-line.js';
import { parseProxy, type ProxyAddress, type ProxyChoice } from '../proxy/proxy-address.js';

/** Names the variables; ports with TLS inside count as `https`. */
export type ProxiedScheme = 'http' | 'https';

export interface ProxyPlaces {
  /** `--proxy` or the field `proxy`: for every address. */
  setting: string | undefined;
  environment: Readonly<Record<string, string | undefined>>;
}

export const NO_PROXY: ProxyChoice = () => null;
const OFF = 'none';

/**
 * The setting, or else the usual variables with `NO_PROXY`. Complains about a proxy that cannot be read without showing it:
 * it may have a password.
 */
export function readProxy(
  { setting, environment }: ProxyPlaces,
  scheme: ProxiedScheme,
  { note }: Problems,
): ProxyChoice {
  if (setting !== undefined) {
    if (setting.toLowerCase() === OFF) return NO_PROXY;
    return note(() => {
      const proxy = readAddress(setting, 'proxy');
      return () => proxy;
    }, NO_PROXY);
  }
  const [name, text] = found(environment, `${scheme}_proxy`) ?? found(environment, 'all_proxy') ?? [];
  if (name === undefined || text === undefined) return NO_PROXY;
  const [, direct = ''] = found(environment, 'no_proxy') ?? [];
  const exceptions = direct.split(/[,\s]+/).filter((entry) => entry !== '');
  return note(() => {
    const proxy = readAddress(text, name);
    return (address) => (exceptions.some((entry) => isMeant(entry, address)) ? null : proxy);
  }, NO_PROXY);
}

function readAddress(text: string, name: string): ProxyAddress {
  const proxy = parseProxy(text);
  if (proxy) return proxy;
  throw new Complaint((words) => words.text('usage.proxy', { name }));
}

/** In lower case, or else in upper case, as other programs do; an empty one is none. */
function found(environment: ProxyPlaces['environment'], name: string): [name: string, value: string] | undefined {
  for (const spelling of [name, name.toUpperCase()]) {
    const value = environment[spelling]?.trim();
    if (value) return [spelling, value];
  }
  return undefined;
}

/** `*`, `example.com` (and all names below it), an address, a range; each may have a port. */
function isMeant(entry: string, { host, port }: HostAndPort): boolean {
  if (entry === '*') return true;
  const [, bracketed, plain, onlyPort] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d{1,5}))$/.exec(entry) ?? [];
  if (onlyPort !== undefined && Number(onlyPort) !== port) return false;
  const pattern = bracketed ?? plain ?? entry.replace(/^\[(.*)\]$/, '$1');
  const ip = parseIp(host);
  if (ip) {
    const one = parseIp(pattern);
    const range = one ? hostCidr(one) : parseCidr(pattern);
    return range !== null && cidrContains(range, ip);
  }
  const name = pattern
    .replace(/^\*?\.+/, '')
    .replace(/\.$/, '')
    .toLowerCase();
  const asked = host.replace(/\.$/, '').toLowerCase();
  return name !== '' && (asked === name || asked.endsWith(`.${name}`));
}
