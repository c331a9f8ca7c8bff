import { isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';
import { asHostName } from '@gatehouse/net';

/** What a request says in `Host` or `:authority`, the name in the form that it is compared in. */
export interface Authority {
  /** A-labels in lower case without a trailing dot, an address, or an IPv6 address in brackets. */
  host: string;
  /** Null where none is said. */
  port: number | null;
}

const MAX_AUTHORITY = 300;
/** Names that visitors asked for last: reading one costs more than finding it. */
const KNOWN_LIMIT = 2048;
const known = new Map<string, Authority>();

/** Null for what is no authority. User information is refused, and so are ports that are none (RFC 9110 7.2). */
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

/** The form in which names are compared: A-labels, lower case, no trailing dot. Null for what is no name. */
export function canonicalHostName(text: string): string | null {
  if (/^[\x21-\x7e]*$/.test(text)) return asHostName(text);
  // Fields are read as latin1; who sends a name in another script sends UTF-8.
  const name = /^[\0-\xff]*$/.test(text) ? Buffer.from(text, 'latin1').toString('utf8') : text;
  return asHostName(domainToASCII(name));
}
