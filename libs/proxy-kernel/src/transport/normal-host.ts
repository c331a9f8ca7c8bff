import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { formatIp, parseIp } from '@gatehouse/net';

const MAX_LENGTH = 255;
/** What nearly every name is: nothing in it has a second form. */
const PLAIN = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?$/i;
/** Of the last label: a number, decimal or hexadecimal, makes it an IPv4 address (URL standard, "ends in a number"). */
const NUMBER = /^(?:\d+|0x[\da-f]*)$/i;
/** No host has these (URL standard, "forbidden domain code point"); a percent sign would be decoded. */
// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\u0000-\u0020#%/:<>?@[\\\]^|\u007f]/;

/**
 * A host in the one form that rules, guards, records and outbounds see, however a client wrote it: lower case, punycode,
 * no dot at the end; addresses as their family writes them, IPv4 in every notation that a system's resolver takes
 * (`127.1`, `0x7f.0.0.1`, `2130706433`), mapped IPv4 as IPv4, and the loopback address for the unspecified one, which
 * connects to the same. Null for what is no host.
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

/** Whether connecting to it leads to this machine although it names none: a name must not resolve to that. */
export function isUnspecified(address: string): boolean {
  const ip = parseIp(address);
  return ip !== null && ip.words.every((word) => word === 0);
}

/** A mapped IPv4 address is an IPv4 one to `parseIp`. */
function normalAddress(address: string): string {
  const ip = parseIp(address);
  if (!ip) return address;
  if (isUnspecified(address)) return ip.family === 4 ? '127.0.0.1' : '::1';
  return formatIp(ip);
}
