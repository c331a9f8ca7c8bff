/** A DNS name in lower case and without a trailing dot; null for what is no host name or is longer than DNS allows. */
export function asHostName(text: string): string | null {
  const host = text.toLowerCase().replace(/\.$/, '');
  return host.length > 0 && host.length <= 253 && /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host) ? host : null;
}
