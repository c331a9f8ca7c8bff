import { formatHostPort } from '@gatehouse/net';
import type { HostAndPort } from '@gatehouse/tunnel-kernel';

/** An HTTP proxy (CONNECT), reached with or without TLS, or a SOCKS5 proxy. */
export interface ProxyAddress {
  kind: 'http' | 'https' | 'socks5';
  /** Name or address, without brackets. */
  host: string;
  port: number;
  /** Null: the proxy asks for none. */
  login: { username: string; password: string } | null;
}

/** The proxy for an address; null: none, connect directly. */
export type ProxyChoice = (address: HostAndPort) => ProxyAddress | null;

const SCHEMES: Readonly<Record<string, { kind: ProxyAddress['kind']; port: number }>> = {
  'http:': { kind: 'http', port: 80 },
  'https:': { kind: 'https', port: 443 },
  // Names are resolved by the proxy with any of these.
  'socks5:': { kind: 'socks5', port: 1080 },
  'socks5h:': { kind: 'socks5', port: 1080 },
  'socks:': { kind: 'socks5', port: 1080 },
};
const HOST = /^(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]+\])$/i;
/** Of the user and the password: what SOCKS5 has room for. */
const MAX_LOGIN_BYTES = 255;

/** `[SCHEME://][USER[:PASSWORD]@]HOST[:PORT]`; without a scheme, an HTTP proxy. Null for anything else. */
export function parseProxy(text: string): ProxyAddress | null {
  const full = text.includes('://') ? text : `http://${text}`;
  if (!URL.canParse(full)) return null;
  const { protocol, hostname, port, pathname, search, hash, username, password } = new URL(full);
  const scheme = Object.hasOwn(SCHEMES, protocol) ? SCHEMES[protocol] : undefined;
  const isPlain = (pathname === '' || pathname === '/') && search === '' && hash === '' && port !== '0';
  if (!scheme || !isPlain || !HOST.test(hostname)) return null;
  const login = readLogin(username, password);
  if (login === undefined) return null;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return { kind: scheme.kind, host, port: port === '' ? scheme.port : Number(port), login };
}

/** The proxy's name for people, without its user and password. */
export function nameOfProxy({ kind, host, port }: ProxyAddress): string {
  return `${kind}://${formatHostPort(host, port)}`;
}

/** Both are percent-encoded. Undefined: they cannot be sent to a proxy. */
function readLogin(encodedUser: string, encodedPassword: string): ProxyAddress['login'] | undefined {
  if (encodedUser === '' && encodedPassword === '') return null;
  try {
    const [username, password] = [decodeURIComponent(encodedUser), decodeURIComponent(encodedPassword)];
    const isShort = [username, password].every((text) => Buffer.byteLength(text) <= MAX_LOGIN_BYTES);
    // A colon in the name would end it in `Basic`.
    return username !== '' && !username.includes(':') && isShort ? { username, password } : undefined;
  } catch {
    return undefined;
  }
}
