import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { formatIp, parseIp } from '@gatehouse/net';

const MAX_LENGTH = 255;
/** A name that has only one form, as nearly all have. */
const PLAIN = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?$/i;
/**
 * A last label that is a number, decimal or hexadecimal, makes a host an IPv4 address (URL standard, "ends in a
 * number").
 */
const NUMBER = /^(?:\d+|0x[\da-f]*)$/i;
/** No host has these (URL standard, "forbidden domain code point"); a percent sign would be decoded. */
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u0020#%/:<>?@[\\\]^|\u007f]/;

/**
 * A host in the one form that rules, guards, records and outbounds see, however a client wrote it. Names are in lower
 * case and punycode, without a trailing dot. Addresses have the usual notation of their family: IPv4 in every notation
 * that system resolvers accept (`127.1`, `0x7f.0.0.1`, `2130706433`) is normalised, mapped IPv4 becomes IPv4, and the
 * unspecified address becomes the loopback, which it connects to. Null for an invalid host.
 */
export function normalHost(text: string): string | null {
  if (isIP(text)) return normalAddress(text);
  if (text.length === 0 || text.length > MAX_LENGTH || FORBIDDEN.test(text)) return null;
  const name = text.endsWith('.') ? text.slice(0, -1) : text;
  const last = name.slice(name.lastIndexOf('.') + 1);
  if (last === '') return null;
  if (PLAIN.test(name) && !NUMBER.test(last)) return name.toLowerCase();
  const ascii = domainToASCII(name);
  if (ascii === '' || ascii.endsWith('.') || ascii.length > MAX_LENGTH) return null;
  return isIP(ascii) ? normalAddress(ascii) : ascii;
}

/**
 * Whether connecting to the address leads to this machine although it is not one of its addresses; a name must not
 * resolve to it.
 */
export function isUnspecified(address: string): boolean {
  const ip = parseIp(address);
  return ip !== null && ip.words.every((word) => word === 0);
}

/** `parseIp` returns a mapped IPv4 address as an IPv4 one. */
function normalAddress(address: string): string {
  const ip = parseIp(address);
  if (!ip) return address;
  if (isUnspecified(address)) return ip.family === 4 ? '127.0.0.1' : '::1';
  return formatIp(ip);
}
