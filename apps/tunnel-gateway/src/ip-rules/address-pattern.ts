import { formatCidr, formatIp, parseCidr, parseIp, type IpAddress } from '@gatehouse/net';
import type { IpPatternKind } from '@gatehouse/tunnel-kernel';

/** The pattern of a rule as it is stored: canonical. @throws RangeError that says what would be right. */
export function parseAddressPattern(kind: IpPatternKind, text: string): string {
  return READERS[kind](text.trim());
}

const READERS: Record<IpPatternKind, (text: string) => string> = {
  exact: (text) => formatIp(readIp(text)),
  cidr: readCidr,
  wildcard: readWildcard,
  range: readRange,
  country: readCountry,
};

/** A zone would name an interface of whoever wrote the rule. */
function readIp(text: string): IpAddress {
  const address = text.includes('%') ? null : parseIp(text);
  if (address === null) throw new RangeError('must be an address such as 192.0.2.1 or 2001:db8::1');
  return address;
}

function readCidr(text: string): string {
  const cidr = text.includes('/') ? parseCidr(text) : null;
  if (cidr === null) throw new RangeError('must be a network such as 192.0.2.0/24 or 2001:db8::/32');
  const network = formatCidr(cidr);
  const address = parseIp(text.slice(0, text.indexOf('/')));
  const masked = address !== null && formatIp(address) === network.slice(0, network.indexOf('/'));
  if (!masked) throw new RangeError(`has bits behind its prefix: write ${network}`);
  return network;
}

function readWildcard(text: string): string {
  const octets = text.split('.');
  const fixed = octets.findIndex((octet) => octet === '*');
  const wrong = new RangeError('must be IPv4 octets and then stars, such as 10.* or 192.0.2.*');
  if (fixed < 1 || octets.length > 4 || octets.slice(fixed).some((octet) => octet !== '*')) throw wrong;
  const numbers = octets.slice(0, fixed);
  if (numbers.some((octet) => !/^(0|[1-9]\d{0,2})$/.test(octet) || Number(octet) > 255)) throw wrong;
  return text;
}

function readRange(text: string): string {
  const [from = '', to = '', ...rest] = text.split('-').map((part) => part.trim());
  if (rest.length > 0 || to === '') throw new RangeError('must be two addresses such as 192.0.2.10-192.0.2.20');
  const [first, last] = [readIp(from), readIp(to)];
  if (first.family !== last.family) throw new RangeError('must have two addresses of one family');
  if (compare(first, last) > 0) throw new RangeError('must begin with the lower address');
  return `${formatIp(first)}-${formatIp(last)}`;
}

function compare(left: IpAddress, right: IpAddress): number {
  const at = left.words.findIndex((word, index) => word !== right.words[index]);
  return at < 0 ? 0 : (left.words[at] ?? 0) - (right.words[at] ?? 0);
}

function readCountry(text: string): string {
  if (/^!?private$/i.test(text)) return text.toLowerCase();
  if (/^!?[a-z]{2}$/i.test(text)) return text.toUpperCase();
  throw new RangeError('must be a country code such as CN, !CN for all others, or private');
}
