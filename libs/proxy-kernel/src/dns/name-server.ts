import { isIP } from 'node:net';
import { KernelConfigError } from '../interfaces/kernel.js';

export type NameServer =
  | { kind: 'system' }
  | { kind: 'udp' | 'tcp'; host: string; port: number }
  | { kind: 'https'; host: string; port: number; url: URL };

const MAX_SERVERS = 16;
const DNS_PORT = 53;
const HTTPS_PORT = 443;

/** @throws KernelConfigError naming the element. */
export function parseNameServers(texts: readonly string[], path: string): NameServer[] {
  if (texts.length === 0 || texts.length > MAX_SERVERS) {
    throw new KernelConfigError(path, `needs one to ${MAX_SERVERS} name servers`);
  }
  return texts.map((text, index) => {
    const server = parseNameServer(text.trim());
    if (server) return server;
    throw new KernelConfigError(`${path}[${index}]`, `${JSON.stringify(text.slice(0, 80))} is not a name server`);
  });
}

/**
 * Parses `system`, `1.1.1.1`, `1.1.1.1:5353`, `[2606::1]:53`, `udp://…`, `tcp://…`, `https://…/dns-query`; null for
 * anything else.
 */
export function parseNameServer(text: string): NameServer | null {
  if (text === 'system') return { kind: 'system' };
  if (isIP(text) !== 0) return { kind: 'udp', host: text, port: DNS_PORT };
  const url = URL.parse(text.includes('://') ? text : `udp://${text}`);
  if (!url || url.hostname === '' || url.username !== '' || url.hash !== '') return null;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (url.protocol === 'https:') return { kind: 'https', host, port: Number(url.port || HTTPS_PORT), url };
  if (url.protocol !== 'udp:' && url.protocol !== 'tcp:') return null;
  if (url.pathname !== '' || url.search !== '') return null;
  return { kind: url.protocol === 'udp:' ? 'udp' : 'tcp', host, port: Number(url.port || DNS_PORT) };
}
