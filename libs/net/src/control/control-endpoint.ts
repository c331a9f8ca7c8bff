import { isIPv6 } from 'node:net';

/** Where a control channel is: a Unix socket, or an address and port between containers. */
export type ControlEndpoint = { path: string } | { host: string; port: number };

/** `/run/kernel.sock`, `unix:/run/kernel.sock`, `kernel:7891`, `0.0.0.0:7891`, `[::1]:7891`; null for anything else. */
export function parseControlEndpoint(text: string): ControlEndpoint | null {
  const path = text.replace(/^unix:(?=\/)/, '');
  if (path.startsWith('/')) return /[\0\n]/.test(path) ? null : { path };
  const [, bracketed, name, digits = ''] = /^(?:\[([^\]]+)\]|([^:\s/[\]]+)):(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? name;
  const port = Number(digits);
  if (host === undefined || port > 65_535 || (bracketed !== undefined && !isIPv6(bracketed))) return null;
  return { host, port };
}

export function formatControlEndpoint(endpoint: ControlEndpoint): string {
  if ('path' in endpoint) return endpoint.path;
  return isIPv6(endpoint.host) ? `[${endpoint.host}]:${endpoint.port}` : `${endpoint.host}:${endpoint.port}`;
}
