import { cidrContains, hostCidr, parseCidr, parseIp, type Cidr } from '@gatehouse/net';
import type { HostAndPort } from '../environment.js';

const MAX_PATTERN_CHARACTERS = 300;

interface PortRange {
  first: number;
  last: number;
}

/** One pattern: a name, `*.name`, an address, a prefix or `*`, with its ports. */
interface DestinationPattern {
  matches(host: string, address: string | null): boolean;
  /** Empty: all. */
  ports: PortRange[];
}

/**
 * Allowed destinations: `db.internal:5432`, `*.corp.example`, `10.0.0.0/8:80,443`, `[2001:db8::]/32:8000-8100`, `*:22`.
 * Names are compared with the requested name, addresses and prefixes with the address that it resolved to.
 */
export class DestinationRules {
  private readonly patterns: readonly DestinationPattern[];

  /** @throws RangeError naming an invalid pattern. */
  constructor(patterns: readonly string[]) {
    this.patterns = patterns.map(parsePattern);
  }

  get empty(): boolean {
    return this.patterns.length === 0;
  }

  /** @param address that the host's name resolved to; the host itself if it is an address. */
  match({ host, port }: HostAndPort, address: string): boolean {
    const name = host.toLowerCase().replace(/\.$/, '');
    return this.patterns.some((pattern) => hasPort(pattern, port) && pattern.matches(name, address));
  }
}

function parsePattern(text: string): DestinationPattern {
  const { host, ports } = splitPorts(text.trim());
  const cidr = parseCidr(host) ?? addressOf(host);
  if (cidr) return { ports, matches: (_, address) => contains(cidr, address) };
  const name = host.toLowerCase();
  if (name === '*') return { ports, matches: () => true };
  if (!/^(\*\.)?[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/.test(name)) {
    throw new RangeError(
      `"${text}" is not a destination: write name, *.name, address or prefix, with :ports if need be`,
    );
  }
  if (name.startsWith('*.')) return { ports, matches: (asked) => asked.endsWith(name.slice(1)) };
  return { ports, matches: (asked) => asked === name };
}

function splitPorts(text: string): { host: string; ports: PortRange[] } {
  if (text === '' || text.length > MAX_PATTERN_CHARACTERS) throw new RangeError(`"${text}" is not a destination`);
  // Brackets separate the colons of an IPv6 address from the one before the ports.
  const bracketed = /^\[([^\]]+)\](\/\d+)?(?::(.+))?$/.exec(text);
  if (bracketed) return { host: `${bracketed[1]}${bracketed[2] ?? ''}`, ports: parsePorts(bracketed[3], text) };
  if (parseIp(text) ?? parseCidr(text)) return { host: text, ports: [] };
  const colon = text.lastIndexOf(':');
  if (colon < 0) return { host: text, ports: [] };
  return { host: text.slice(0, colon), ports: parsePorts(text.slice(colon + 1), text) };
}

function parsePorts(list: string | undefined, text: string): PortRange[] {
  if (list === undefined || list === '*') return [];
  return list.split(',').map((part) => {
    const [, first, last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part.trim()) ?? [];
    const range = { first: Number(first), last: Number(last) };
    if (!(range.first >= 1 && range.first <= range.last && range.last <= 65_535)) {
      throw new RangeError(`"${text}": "${part}" is not a port or a range of ports`);
    }
    return range;
  });
}

function hasPort({ ports }: DestinationPattern, port: number): boolean {
  return ports.length === 0 || ports.some(({ first, last }) => port >= first && port <= last);
}

function addressOf(host: string): Cidr | null {
  const address = parseIp(host);
  return address && hostCidr(address);
}

function contains(cidr: Cidr, address: string | null): boolean {
  const parsed = address === null ? null : parseIp(address);
  return parsed !== null && cidrContains(cidr, parsed);
}
