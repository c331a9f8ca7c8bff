import type { TunnelModeName, TunnelView } from '@gatehouse/contracts';
import { textOfPorts } from './tunnel-ports.js';

const EVERYWHERE: ReadonlySet<string> = new Set(['0.0.0.0', '::']);
const SCHEMES: Partial<Record<TunnelModeName, string>> = {
  http_proxy: 'http://',
  mix_proxy: 'http://',
  socks5: 'socks5://',
  file: 'http://',
};

type Place = Pick<TunnelView, 'mode' | 'listen_ip' | 'listen_port'> & Partial<Pick<TunnelView, 'port_count'>>;

/** Where visitors go; null for modes without a port. `gateway`: the name by which the gateway is reached. */
export function addressOf(place: Place, gateway: string): string | null {
  const { mode, listen_ip: ip } = place;
  if (mode === 'secret' || mode === 'p2p') return null;
  const host = EVERYWHERE.has(ip) ? gateway : ip;
  return `${SCHEMES[mode] ?? ''}${bracketed(host)}:${textOfPorts(place)}`;
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}
