import { isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { asHostName } from '@gatehouse/net';

/** The authority of a request (`Host` or `:authority`), with the name in the form that is used for comparison. */
export interface Authority {
  /** A-labels in lower case without a trailing dot, an address, or an IPv6 address in brackets. */
  host: string;
  /** Null if there is none. */
  port: number | null;
}

const MAX_AUTHORITY = 300;
/** Cache of the names requested last: parsing a name costs more than looking it up. */
const KNOWN_LIMIT = 2048;
const known = new Map<string, Authority>();

/** Null for an invalid authority. User information and invalid ports are refused (RFC 9110 7.2). */
export function readAuthority(text: string): Authority | null {
  const found = known.get(text);
  if (found) return found;
  const authority = text.length > MAX_AUTHORITY ? null : parse(text);
  if (authority) {
    if (known.size >= KNOWN_LIMIT) known.clear();
    known.set(text, authority);
  }
  return authority;
}

function parse(text: string): Authority | null {
  const [, name = '', digits] = /^(\[[0-9A-Fa-f:.]+\]|[^:[\]]+)(?::(\d{0,5}))?$/.exec(text) ?? [];
  const port = digits ? Number(digits) : null;
  if (name === '' || (port !== null && port > 65_535)) return null;
  const host = name.startsWith('[') ? bracketed(name) : canonicalHostName(name);
  return host === null ? null : { host, port };
}

function bracketed(name: string): string | null {
  return isIPv6(name.slice(1, -1)) ? name.toLowerCase() : null;
}

/** The form in which names are compared: A-labels, lower case, no trailing dot. Null for an invalid name. */
export function canonicalHostName(text: string): string | null {
  if (/^[\x21-\x7e]*$/.test(text)) return asHostName(text);
  // Fields are read as latin1, but clients send names in other scripts as UTF-8.
  const name = /^[\0-\xff]*$/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text;
  return asHostName(domainToASCII(name));
}
