import { formatCidr, formatIp, hostCidr, parseCidr, parseIp, type Cidr, type IpAddress } from '@gatehouse/net';
import type { IpPatternKind } from '../config.js';
import type { AddressRange } from './address-set.js';
import { cidrsOfRange, complementOf, ipNumber, PRIVATE_CIDRS } from './ip-range.js';

/** A parsed pattern. */
export type IpMatcher =
  | { cidrs: readonly Cidr[] }
  /** ISO 3166-1 alpha-2, upper case. `negated`: every country but this one, including unknown ones. */
  | { country: string; negated: boolean }
  /** Number of an autonomous system. `negated`: every system but this one, and addresses that belong to none. */
  | { asn: number; negated: boolean }
  /** Name of a list of addresses. */
  | { list: string };

export interface IpPattern {
  /** The canonical spelling. */
  canonical: string;
  matcher: IpMatcher;
}

/** An invalid pattern; `suggestion` is the probable intention. */
export class IpPatternError extends Error {
  readonly suggestion: string | null;

  constructor(message: string, suggestion: string | null = null) {
    super(suggestion === null ? message : `${message}; did you mean ${suggestion}?`);
    this.name = 'IpPatternError';
    this.suggestion = suggestion;
  }
}

const PARSERS: Record<IpPatternKind, (text: string) => IpPattern> = {
  exact: parseExact,
  cidr: parseMaskedCidr,
  wildcard: parseWildcard,
  range: parseRange,
  country: parseCountry,
  asn: parseAsn,
  any: parseAny,
  list: parseListName,
};

/** An address, a network or a range, as in a list of many. @throws IpPatternError as for a rule of that kind. */
export function parseAddressRange(text: string): AddressRange {
  if (text.includes('-')) {
    const [{ family }, , first, last] = endsOfRange(text);
    return { family, first, last };
  }
  const { matcher } = text.includes('/') ? parseMaskedCidr(text) : parseExact(text);
  const [cidr] = 'cidrs' in matcher ? matcher.cidrs : [];
  if (!cidr) throw new IpPatternError(`"${text}" is not an address, a network or a range`);
  const first = ipNumber(cidr);
  const bits = cidr.words.length * 32;
  return { family: cidr.family, first, last: first + (1n << BigInt(bits - cidr.prefix)) - 1n };
}

/** IPv4-mapped IPv6 addresses are treated as IPv4 addresses, in patterns and for visitors. @throws IpPatternError. */
export function parseIpPattern(kind: IpPatternKind, text: string): IpPattern {
  return PARSERS[kind](text.trim());
}

function parseExact(text: string): IpPattern {
  if (text.includes('/')) throw new IpPatternError(`"${text}" is a prefix, not an address: its kind is cidr`);
  const address = parseAddress(text);
  return { canonical: formatIp(address), matcher: { cidrs: [hostCidr(address)] } };
}

function parseMaskedCidr(text: string): IpPattern {
  rejectZone(text);
  const cidr = parseCidr(text);
  if (!cidr) {
    const address = parseIp(text);
    if (!address) throw new IpPatternError(`"${text}" is not a prefix such as 10.0.0.0/8 or 2001:db8::/32`);
    throw new IpPatternError(`"${text}" has no prefix length`, formatCidr(hostCidr(address)));
  }
  const written = parseIp(text.slice(0, text.indexOf('/')));
  if (!written || !sameAddress(written, cidr)) {
    throw new IpPatternError(`"${text}" has bits set after its prefix`, formatCidr(cidr));
  }
  return { canonical: formatCidr(cidr), matcher: { cidrs: [cidr] } };
}

/** `10.*`, `10.1.*.*`: wildcards follow the given octets. */
function parseWildcard(text: string): IpPattern {
  if (/^\*(\.\*){0,3}$/.test(text)) throw new IpPatternError(`"${text}" is every address: its kind is any`);
  const [, given = ''] = /^((?:\d{1,3}\.){1,3})\*(?:\.\*){0,2}$/.exec(text) ?? [];
  const octets = given.split('.').slice(0, -1);
  const cidr = parseCidr(`${[...octets, '0', '0', '0'].slice(0, 4).join('.')}/${octets.length * 8}`);
  if (!cidr || octets.length === 0 || text.split('.').length > 4) {
    throw new IpPatternError(`"${text}" is not an IPv4 address whose last octets are *, such as 10.1.*`);
  }
  return { canonical: `${given}*`, matcher: { cidrs: [cidr] } };
}

function parseRange(text: string): IpPattern {
  const [from, to, first, last] = endsOfRange(text);
  return {
    canonical: `${formatIp(from)}-${formatIp(to)}`,
    matcher: { cidrs: cidrsOfRange(from.family, first, last) },
  };
}

/** The addresses, and the same as numbers. */
function endsOfRange(text: string): [IpAddress, IpAddress, bigint, bigint] {
  const [from = '', to = '', ...more] = text.split('-').map((part) => part.trim());
  if (from === '' || to === '' || more.length > 0) {
    throw new IpPatternError(`"${text}" is not a range of addresses such as 10.0.0.1-10.0.0.9`);
  }
  const [first, last] = [parseAddress(from), parseAddress(to)];
  if (first.family !== last.family) throw new IpPatternError(`"${text}" begins in one family and ends in another`);
  const ends = [ipNumber(first), ipNumber(last)] as const;
  if (ends[0] > ends[1]) {
    throw new IpPatternError(`"${text}" ends before it begins`, `${formatIp(last)}-${formatIp(first)}`);
  }
  return [first, last, ...ends];
}

function parseCountry(text: string): IpPattern {
  const negated = text.startsWith('!');
  const name = text.slice(Number(negated)).trim();
  const mark = negated ? '!' : '';
  if (name.toLowerCase() === 'private') {
    const cidrs = negated ? complementOf(PRIVATE_CIDRS) : PRIVATE_CIDRS;
    return { canonical: `${mark}private`, matcher: { cidrs } };
  }
  const country = name.toUpperCase();
  const current = /^[A-Z]{2}$/.test(country) ? new Intl.Locale(`und-${country}`).region : undefined;
  if (!current || !regionNames.of(current)) {
    throw new IpPatternError(`"${text}" is not a country of ISO 3166-1 (two letters) nor private`);
  }
  if (current !== country) throw new IpPatternError(`"${text}" is not the code of a country today`, mark + current);
  return { canonical: mark + country, matcher: { country, negated } };
}

/** `AS13335`, `13335` or `!AS13335`: four bytes (RFC 6793), 0 is reserved (RFC 7607). */
function parseAsn(text: string): IpPattern {
  const negated = text.startsWith('!');
  const mark = negated ? '!' : '';
  const [, digits = ''] = /^(?:AS)?(\d{1,12})$/i.exec(text.slice(Number(negated)).trim()) ?? [];
  const asn = Number(digits);
  if (digits === '' || asn < 1 || asn > MAX_ASN) {
    throw new IpPatternError(`"${text}" is not the number of an autonomous system, such as AS13335`);
  }
  return { canonical: `${mark}AS${asn}`, matcher: { asn, negated } };
}

/** `*`: every address of both families. */
function parseAny(text: string): IpPattern {
  if (text !== '*') throw new IpPatternError(`"${text}" is not every address`, '*');
  return { canonical: '*', matcher: { cidrs: complementOf([]) } };
}

/** The name of a list of addresses; whether there is such a list is another question. */
function parseListName(text: string): IpPattern {
  const list = text.toLowerCase();
  if (!/^[a-z0-9][a-z0-9._-]{0,63}$/.test(list)) {
    throw new IpPatternError(`"${text}" is not the name of a list: letters, digits, dots, - and _, such as office`);
  }
  return { canonical: list, matcher: { list } };
}

const MAX_ASN = 0xffffffff;
const regionNames = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });

function parseAddress(text: string): IpAddress {
  rejectZone(text);
  const address = parseIp(text);
  if (!address) throw new IpPatternError(`"${text}" is not an IPv4 or IPv6 address`);
  return address;
}

function rejectZone(text: string): void {
  if (!text.includes('%')) return;
  const zone = text.replace(/%[^/-]*/, '');
  throw new IpPatternError(`"${text}" names a zone, which means nothing on another machine`, zone);
}

function sameAddress(a: IpAddress, b: IpAddress): boolean {
  return a.family === b.family && a.words.every((word, index) => word === b.words[index]);
}
