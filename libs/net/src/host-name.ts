/** `host:port`, with an IPv6 address in brackets. */
export function formatHostPort(host: string, port: number): string {
  return `${hostInUrl(host)}:${port}`;
}

/** The authority of an HTTP URL: the port is left out where it is the default of the scheme. */
export function formatAuthority(host: string, port: number, secure: boolean): string {
  return port === (secure ? 443 : 80) ? hostInUrl(host) : formatHostPort(host, port);
}

/** RFC 3986 3.2.2. */
function hostInUrl(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

/** A DNS name in lower case and without a trailing dot; null for text that is not a host name or is longer than DNS allows. */
export function asHostName(text: string): string | null {
  const host = text.toLowerCase().replace(/\.$/, '');
  return host.length > 0 && host.length <= 253 && /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host) ? host : null;
}
