import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** The destination that `POST /rules/test` asks about. */
export interface RouteTarget {
  url: string;
  scheme: string;
  /** A domain in lower-case ASCII without a trailing dot, or an address without brackets. */
  host: string;
  isAddress: boolean;
  port: number;
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = {
  http: 80,
  https: 443,
  ws: 80,
  wss: 443,
  ftp: 21,
  ssh: 22,
};
const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;

/**
 * Reads `https://host:port/path`, `host`, `host:port` or an address. The default is https on port 443.
 * @returns null for a text without a host.
 */
export function parseRouteTarget(text: string): RouteTarget | null {
  const url = text.trim();
  if (url === '' || /[\s\p{Cc}]/u.test(url)) return null;
  const scheme = SCHEME.exec(url)?.[1]?.toLowerCase();
  const rest = scheme === undefined ? url : url.slice(scheme.length + 3);
  const authority = rest.split(/[/?#]/, 1)[0] ?? '';
  const endpoint = splitEndpoint(authority.slice(authority.lastIndexOf('@') + 1));
  if (endpoint === null) return null;
  const port = endpoint.port ?? (scheme === undefined ? 443 : DEFAULT_PORTS[scheme]);
  const host = normaliseHost(endpoint.host);
  if (host === null || port === undefined || port < 1 || port > 65_535) return null;
  return { url, scheme: scheme ?? schemeOf(port), host, isAddress: isIP(host) > 0, port };
}

function schemeOf(port: number): string {
  return port === 80 ? 'http' : port === 443 ? 'https' : 'tcp';
}

function splitEndpoint(text: string): { host: string; port: number | undefined } | null {
  // A bare IPv6 address cannot have a port.
  if (isIP(text) === 6) return { host: text, port: undefined };
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i.exec(text);
  if (match === null) return null;
  return { host: match[1] ?? match[2] ?? '', port: match[3] === undefined ? undefined : Number(match[3]) };
}

function normaliseHost(host: string): string | null {
  if (isIP(host) > 0) return host.toLowerCase();
  const ascii = domainToASCII(host.replace(/\.$/, '')).toLowerCase();
  const labels = ascii.split('.');
  const fits = ascii.length <= 253 && labels.every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
  // A last label of digits only makes it a malformed address (RFC 3986 3.2.2), not a domain.
  return ascii !== '' && fits && !/^\d+$/.test(labels.at(-1) ?? '') ? ascii : null;
}
