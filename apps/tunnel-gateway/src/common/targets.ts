/** The syntax of `target_addr`: the API validates with it, the edge parses with it; no framework here. */
import { parseIp } from '@gatehouse/net';
import {
  DestinationRules,
  mayHaveRange,
  type FileRoot,
  type HostTarget,
  type PortRange,
  type TunnelMode,
} from '@gatehouse/tunnel-kernel';

const MAX_TARGETS = 64;
const MAX_DESTINATIONS = 256;
const MAX_WEIGHT = 1000;
const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*$/i;

export interface Target {
  host: string;
  port: number;
  weight: number;
}

export interface TunnelTargets {
  targets: Target[];
  destinations?: string[];
  file?: FileRoot;
  /** Absent: one port. */
  ports?: PortRange;
}

/** @throws RangeError for a mode that has one port at most. */
export function checkPortCount(mode: TunnelMode, count: number): void {
  if (count > 1 && !mayHaveRange(mode))
    throw new RangeError('must be 1: only the modes tcp and udp have ranges of ports');
}

/**
 * `count`: public ports of the tunnel.
 * @throws RangeError that says what was wrong and what would be right.
 */
export function parseTunnelTargets(mode: TunnelMode, text: string, count = 1): TunnelTargets {
  checkPortCount(mode, count);
  if (mode === 'file') return { targets: [], file: parseFileRoot(text) };
  if (mode === 'http_proxy' || mode === 'socks5' || mode === 'mix_proxy') {
    return { targets: [], destinations: parseDestinations(text) };
  }
  return parseRangedTargets(text, count);
}

/**
 * `host:port`, separated by commas or line breaks, each with `#weight=N` unless it is 1. All or none of them have one port
 * for each public port: `host:7000-7010`. @throws RangeError
 */
function parseRangedTargets(text: string, count: number): TunnelTargets {
  const parts = several(text);
  const sizes = new Set<number>();
  const targets = parts.map((part): Target => {
    const { address, weight } = splitWeight(part);
    const [, start = address, last] = /^(.*:\d{1,5})-(\d{1,5})$/.exec(address) ?? [];
    const target = parseHostPort(start, null);
    const size = last === undefined ? 1 : Number(last) - target.port + 1;
    if (size < 1 || Number(last ?? 0) > 65_535) throw new RangeError(`"${address}": ranges go up, and end at 65535`);
    if (last !== undefined && size !== count) {
      throw new RangeError(`"${address}" has ${size} ports and the tunnel has ${count}: make port_count the same`);
    }
    sizes.add(size);
    return { ...target, weight };
  });
  if (sizes.size > 1) throw new RangeError('must have a range of ports for each target, or for none');
  return { targets, ...(count > 1 && { ports: { count, mapped: sizes.has(count) } }) };
}

/**
 * The same, prefixed with `http://`, `https://` or `h2c://`, and optionally followed by `?insecure=1`. @throws
 * RangeError
 */
export function parseHostTargets(text: string): HostTarget[] {
  const targets = several(text).map((part): HostTarget => {
    const { address, weight } = splitWeight(part);
    const [, scheme = 'http', rest = '', query = ''] =
      /^(?:([a-z0-9]+):\/\/)?([^?]*?)\/?(?:\?(.*))?$/i.exec(address) ?? [];
    const kind = scheme.toLowerCase();
    if (kind !== 'http' && kind !== 'https' && kind !== 'h2c' && kind !== 'tls') {
      throw new RangeError(`"${part}" must begin with http://, https://, h2c:// or tls://, or with the host`);
    }
    if (query !== '' && query !== 'insecure=1' && query !== 'insecure=0') {
      throw new RangeError(`"${part}" may end with ?insecure=1 and nothing else`);
    }
    const insecure = query === 'insecure=1';
    if (insecure && kind !== 'https') throw new RangeError(`"${part}": insecure is for https targets`);
    return { ...parseHostPort(rest, kind === 'https' || kind === 'tls' ? 443 : 80), weight, scheme: kind, insecure };
  });
  if (new Set(targets.map(({ scheme }) => scheme === 'tls')).size > 1) {
    throw new RangeError('has targets with tls:// and others: give them hosts of their own');
  }
  return targets;
}

/** `file:///abs/dir?ro=1&strip=/web`: a directory of the agent's machine. @throws RangeError */
export function parseFileRoot(text: string): FileRoot {
  const url = URL.parse(text.trim());
  const wrong = new RangeError('must be a directory of the agent such as file:///srv/www?ro=1&strip=/web');
  if (url?.protocol !== 'file:' || url.host !== '' || url.hash !== '') throw wrong;
  const path = decoded(url.pathname).replace(/(?<=.)\/+$/, '');
  for (const name of url.searchParams.keys()) if (name !== 'ro' && name !== 'strip') throw wrong;
  const readOnly = url.searchParams.get('ro') ?? '1';
  const stripPrefix = (url.searchParams.get('strip') ?? '').replace(/\/+$/, '');
  if (!/^[01]$/.test(readOnly) || !/^(\/[^/\0]+)*$/.test(stripPrefix) || path.includes('\0')) throw wrong;
  return { path, readOnly: readOnly === '1', stripPrefix };
}

/**
 * What visitors of a proxy may reach, in the syntax of `DestinationRules`; empty: everything the agent allows.
 * Separated by blanks, line breaks, semicolons or commas; a comma before a number continues a list of ports. @throws
 * RangeError
 */
export function parseDestinations(text: string): string[] {
  const parts = text
    .split(/[\s;]+|,(?!\s*\d{1,5}(?:-\d{1,5})?\s*(?:[,;\s]|$))/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (parts.length > MAX_DESTINATIONS) throw new RangeError(`must not have more than ${MAX_DESTINATIONS} destinations`);
  void new DestinationRules(parts);
  return parts;
}

function several(text: string): string[] {
  const parts = text
    .split(/[,\r\n]+/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (parts.length === 0) throw new RangeError('must name a target such as 127.0.0.1:8080');
  if (parts.length > MAX_TARGETS) throw new RangeError(`must not have more than ${MAX_TARGETS} targets`);
  return parts;
}

function splitWeight(part: string): { address: string; weight: number } {
  const [address = '', option, ...rest] = part.split('#');
  if (option === undefined) return { address, weight: 1 };
  const weight = Number(/^weight=(\d{1,4})$/.exec(option)?.[1] ?? 0);
  if (rest.length > 0 || weight < 1 || weight > MAX_WEIGHT) {
    throw new RangeError(`"${part}" may end with #weight=1 to #weight=${MAX_WEIGHT} and nothing else`);
  }
  return { address, weight };
}

function parseHostPort(text: string, fallback: number | null): { host: string; port: number } {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = bracketed ?? plain ?? '';
  const port = digits === undefined ? fallback : Number(digits);
  const address = parseIp(host);
  const isHost = bracketed === undefined ? address?.family === 4 || isName(host) : address !== null;
  if (!isHost) throw new RangeError(`"${text}" is not a target: write host:port, an IPv6 address in brackets`);
  if (port === null) throw new RangeError(`"${text}" needs a port: ${text}:8080`);
  if (port < 1 || port > 65_535) throw new RangeError(`"${text}": ports go from 1 to 65535`);
  return { host: host.toLowerCase(), port };
}

/** A name whose last label is a number is a mistyped address (RFC 1123 2.1). */
function isName(host: string): boolean {
  return NAME.test(host) && !/(^|\.)\d+$/.test(host);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch (error) {
    throw new RangeError('has an invalid percent escape', { cause: error });
  }
}
