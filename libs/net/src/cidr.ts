/**
 * Addresses and prefixes in numeric form. An IPv4-mapped IPv6 address (RFC 4291 2.5.5.2) is the IPv4 address it carries,
 * so that a dual-stack socket and an IPv4 one give the same answer to the same rule.
 */

export interface IpAddress {
  readonly family: 4 | 6;
  /** Unsigned 32-bit words, most significant first: one for IPv4, four for IPv6. */
  readonly words: readonly number[];
}

export interface Cidr extends IpAddress {
  /** Prefix length in bits; every address bit after it is zero. */
  readonly prefix: number;
}

const ZERO = 48;
const NINE = 57;
const DOT = 46;
const COLON = 58;
const PERCENT = 37;
const LOWER_A = 97;
const LOWER_F = 102;
/** Longest text that can be an address: a full IPv6 address with a dotted tail, a zone of 32 characters and a prefix. */
const MAX_TEXT = 96;

/**
 * Dotted quad to an unsigned 32-bit number; -1 when it is not one. Leading zeros are refused, because some parsers read
 * them as octal.
 */
export function parseIpv4(text: string): number {
  const length = text.length;
  if (length < 7 || length > 15) return -1;
  let value = 0;
  let octet = -1;
  let dots = 0;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    if (code === DOT) {
      if (octet < 0 || ++dots > 3) return -1;
      value = value * 256 + octet;
      octet = -1;
    } else if (code >= ZERO && code <= NINE && octet !== 0) {
      octet = octet < 0 ? code - ZERO : octet * 10 + code - ZERO;
      if (octet > 255) return -1;
    } else {
      return -1;
    }
  }
  return dots === 3 && octet >= 0 ? value * 256 + octet : -1;
}

/** Address in either family; null when it is neither. A zone (`fe80::1%eth0`) is accepted and dropped. */
export function parseIp(text: string): IpAddress | null {
  const v4 = parseIpv4(text);
  if (v4 >= 0) return { family: 4, words: [v4] };
  const words = parseIpv6(text);
  if (words === null) return null;
  return isMapped(words) ? { family: 4, words: [words[3] ?? 0] } : { family: 6, words };
}

/** `10.0.0.0/8`, `2001:db8::/32`; null when it is not a prefix. Host bits are cleared, a mapped prefix becomes its IPv4 form. */
export function parseCidr(text: string): Cidr | null {
  const slash = text.indexOf('/');
  if (slash < 0 || !/^(0|[1-9]\d{0,2})$/.test(text.slice(slash + 1))) return null;
  const prefix = Number(text.slice(slash + 1));
  const address = text.slice(0, slash);
  const v4 = parseIpv4(address);
  if (v4 >= 0) return prefix <= 32 ? cidr(4, [v4], prefix) : null;
  const words = address.includes('%') ? null : parseIpv6(address);
  if (words === null || prefix > 128) return null;
  if (prefix >= 96 && isMapped(words)) return cidr(4, [words[3] ?? 0], prefix - 96);
  return cidr(6, words, prefix);
}

/** The prefix of one address: /32 or /128. */
export function hostCidr(address: IpAddress): Cidr {
  return { family: address.family, words: address.words, prefix: address.words.length * 32 };
}

export function cidrContains(outer: Cidr, address: IpAddress): boolean {
  if (outer.family !== address.family) return false;
  for (let i = 0; i < outer.words.length; i++) {
    const mask = maskWord(outer.prefix, i);
    if (mask === 0) return true;
    if ((((outer.words[i] ?? 0) ^ (address.words[i] ?? 0)) & mask) !== 0) return false;
  }
  return true;
}

/** Canonical text: dotted quad, or RFC 5952. */
export function formatIp(address: IpAddress): string {
  const first = address.words[0] ?? 0;
  if (address.family === 4) return `${first >>> 24}.${(first >>> 16) & 255}.${(first >>> 8) & 255}.${first & 255}`;
  const groups = address.words.flatMap((word) => [word >>> 16, word & 0xffff]);
  const gap = longestZeroRun(groups);
  const text = (from: number, to: number) =>
    groups
      .slice(from, to)
      .map((group) => group.toString(16))
      .join(':');
  return gap.length < 2 ? text(0, 8) : `${text(0, gap.start)}::${text(gap.start + gap.length, 8)}`;
}

export function formatCidr(value: Cidr): string {
  return `${formatIp(value)}/${value.prefix}`;
}

function cidr(family: 4 | 6, words: readonly number[], prefix: number): Cidr {
  return { family, prefix, words: words.map((word, i) => (word & maskWord(prefix, i)) >>> 0) };
}

/** Mask of the `index`-th word for a prefix length. A shift by 32 would be a shift by 0, hence the special case. */
function maskWord(prefix: number, index: number): number {
  const bits = Math.min(32, Math.max(0, prefix - index * 32));
  return bits === 0 ? 0 : (0xffffffff << (32 - bits)) >>> 0;
}

function isMapped(words: readonly number[]): boolean {
  return words[0] === 0 && words[1] === 0 && words[2] === 0xffff;
}

/** One pass over the characters: this runs once for each routed IPv6 address. */
function parseIpv6(text: string): number[] | null {
  const length = text.length;
  if (length < 2 || length > MAX_TEXT) return null;
  const groups = [0, 0, 0, 0, 0, 0, 0, 0];
  let count = 0;
  let gap = -1;
  let at = 0;
  if (text.startsWith('::')) {
    gap = 0;
    at = 2;
  }
  while (at < length && text.charCodeAt(at) !== PERCENT) {
    if (count === 8) return null;
    const end = groupEnd(text, at);
    if (text.charCodeAt(end) === DOT) return finishWithQuad(text, at, groups, count, gap);
    const value = end - at > 4 ? -1 : hexValue(text, at, end);
    if (value < 0) return null;
    groups[count++] = value;
    at = end;
    if (text.charCodeAt(at) !== COLON) break;
    at++;
    if (text.charCodeAt(at) === COLON) {
      if (gap >= 0) return null;
      gap = count;
      at++;
    } else if (at === length || text.charCodeAt(at) === PERCENT) {
      return null;
    }
  }
  return endsWell(text, at) ? toWords(groups, count, gap) : null;
}

/** First position that is no hexadecimal digit. */
function groupEnd(text: string, start: number): number {
  let at = start;
  while (digitValue(text.charCodeAt(at)) >= 0) at++;
  return at;
}

/** -1 for no digits at all. */
function hexValue(text: string, start: number, end: number): number {
  if (start === end) return -1;
  let value = 0;
  for (let at = start; at < end; at++) value = value * 16 + digitValue(text.charCodeAt(at));
  return value;
}

function digitValue(code: number): number {
  if (code >= ZERO && code <= NINE) return code - ZERO;
  const lower = code | 32;
  return lower >= LOWER_A && lower <= LOWER_F ? lower - LOWER_A + 10 : -1;
}

/** The address ends in a dotted quad that begins at `start`. */
function finishWithQuad(text: string, start: number, groups: number[], count: number, gap: number): number[] | null {
  const zone = text.indexOf('%', start);
  const end = zone < 0 ? text.length : zone;
  const v4 = parseIpv4(text.slice(start, end));
  if (v4 < 0 || count > 6 || !endsWell(text, end)) return null;
  groups[count] = v4 >>> 16;
  groups[count + 1] = v4 & 0xffff;
  return toWords(groups, count + 2, gap);
}

/** At the end of the text, or at a zone. */
function endsWell(text: string, at: number): boolean {
  return at === text.length || /^%[0-9A-Za-z.:-]+$/.test(text.slice(at));
}

/** Moves the groups behind `::` to the end, and makes words of pairs. A gap stands for one group at least. */
function toWords(groups: number[], count: number, gap: number): number[] | null {
  if (gap < 0 ? count !== 8 : count > 7) return null;
  if (gap >= 0) {
    const shift = 8 - count;
    for (let i = count - 1; i >= gap; i--) groups[i + shift] = groups[i] ?? 0;
    for (let i = gap; i < gap + shift; i++) groups[i] = 0;
  }
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  return [a * 65536 + b, c * 65536 + d, e * 65536 + f, g * 65536 + h];
}

function longestZeroRun(groups: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < groups.length; start++) {
    let end = start;
    while (groups[end] === 0) end++;
    if (end - start > best.length) best = { start, length: end - start };
    if (end > start) start = end;
  }
  return best;
}
