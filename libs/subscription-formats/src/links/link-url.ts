import { FormatError } from '../errors.js';
import { hostInUrl, readPort, readServer } from '../fields.js';
import { decodePercent, encodePercent } from '../text/percent.js';

/** A share link cut at its delimiters. Only name and query values are decoded. */
export interface LinkParts {
  scheme: string;
  /** Before the last `@`; undefined without one. */
  userinfo: string | undefined;
  /** `host:port`, or the whole body of a base64 link. */
  authority: string;
  path: string;
  query: LinkQuery;
  /** Decoded text after `#`; undefined without one. */
  name: string | undefined;
}

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*):\/\//;

export function linkScheme(link: string): string | undefined {
  return SCHEME.exec(link)?.[1]?.toLowerCase();
}

/**
 * Cuts `scheme://userinfo@host:port/path?query#name`. Unlike a URL parser it does not change userinfo, because
 * links have unencoded base64 and passwords there.
 */
export function splitLink(link: string): LinkParts {
  const scheme = linkScheme(link);
  if (scheme === undefined) throw new FormatError('invalid_link', 'it is not a link');
  let rest = link.slice(scheme.length + 3);
  let name: string | undefined;
  const hash = rest.indexOf('#');
  if (hash !== -1) {
    name = decodePercent(rest.slice(hash + 1));
    rest = rest.slice(0, hash);
  }
  const mark = rest.indexOf('?');
  const query = new LinkQuery(mark === -1 ? '' : rest.slice(mark + 1));
  if (mark !== -1) rest = rest.slice(0, mark);
  const at = rest.lastIndexOf('@');
  const userinfo = at === -1 ? undefined : rest.slice(0, at);
  const place = rest.slice(at + 1);
  const slash = userinfo === undefined ? -1 : place.indexOf('/');
  return {
    scheme,
    userinfo,
    authority: slash === -1 ? place : place.slice(0, slash),
    path: slash === -1 ? '' : place.slice(slash),
    query,
    name,
  };
}

export interface Endpoint {
  server: string;
  port: number;
}

/** `host:port`, `[v6]:port`, or `v6:port` without brackets. */
export function readEndpoint(authority: string, defaultPort?: number): Endpoint {
  const place = authority.endsWith('/') ? authority.slice(0, -1) : authority;
  const { host, port } = cutEndpoint(place);
  return { server: readServer(host), port: readPort(port ?? defaultPort) };
}

function cutEndpoint(place: string): { host: string; port: string | undefined } {
  const closing = place.startsWith('[') ? place.indexOf(']') : -1;
  const colon = place.lastIndexOf(':');
  if (colon === -1 || colon < closing) return { host: place, port: undefined };
  if (closing !== -1 && colon !== closing + 1) return { host: place, port: undefined };
  return { host: place.slice(0, colon), port: place.slice(colon + 1) };
}

/** Query parameters. Names are case-insensitive, the first of equal names wins, and `+` is a plus. */
export class LinkQuery {
  private readonly values: Map<string, string> = new Map();

  constructor(text: string) {
    if (text === '') return;
    for (const pair of text.split('&')) {
      const equals = pair.indexOf('=');
      const name = (equals === -1 ? pair : pair.slice(0, equals)).toLowerCase();
      if (name === '' || this.values.has(name)) continue;
      this.values.set(name, equals === -1 ? '' : decodePercent(pair.slice(equals + 1)));
    }
  }

  /** The value of the first of these names (lower case) that has one. */
  get(...names: string[]): string | undefined {
    for (const name of names) {
      const value = this.values.get(name);
      if (value !== undefined && value !== '') return value;
    }
    return undefined;
  }

  /** Whether the name is present, with or without a value. */
  has(name: string): boolean {
    return this.values.has(name);
  }

  names(): string[] {
    return [...this.values.keys()];
  }
}

/** Writes a link; absent and empty parameters are left out. */
export function joinLink(
  scheme: string,
  userinfo: string | undefined,
  endpoint: Endpoint,
  query: Record<string, string | undefined>,
  name: string,
): string {
  const pairs: string[] = [];
  for (const key of Object.keys(query)) {
    const value = query[key];
    if (value !== undefined && value !== '') pairs.push(`${key}=${encodePercent(value)}`);
  }
  const user = userinfo === undefined ? '' : `${userinfo}@`;
  const search = pairs.length === 0 ? '' : `?${pairs.join('&')}`;
  return `${scheme}://${user}${hostInUrl(endpoint.server)}:${endpoint.port}${search}#${encodePercent(name)}`;
}
