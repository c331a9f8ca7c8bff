/** `host:port` as a URL has it: an IPv6 address in brackets, the port only where it is not the scheme's own. */
export function formatAuthority(host: string, port: number, secure: boolean): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === (secure ? 443 : 80) ? name : `${name}:${port}`;
}

/** A DNS name in lower case and without a trailing dot; null for text that is not a host name or is longer than DNS allows. */
export function asHostName(text: string): string | null {
  const host = text.toLowerCase().replace(/\.$/, '');
  return host.length > 0 && host.length <= 253 && /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host) ? host : null;
}
