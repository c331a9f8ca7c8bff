import type { TunnelMode } from '../config.js';
import type { ModeContext, ServerMode } from './mode.js';
import type { PrivateMode } from './private/private-mode.js';
import { ProxyMode } from './proxy/proxy-mode.js';
import { TcpMode } from './tcp-mode.js';
import { UdpMode, type UdpLimits } from './udp-mode.js';

/** The server's side of all modes. */
export function createModes(
  context: ModeContext,
  privateMode: PrivateMode,
  udp: UdpLimits,
): Partial<Record<TunnelMode, ServerMode>> {
  const tcp = new TcpMode(context);
  const proxy = new ProxyMode(context);
  return {
    tcp,
    udp: new UdpMode(context, udp),
    file: tcp,
    http_proxy: proxy,
    socks5: proxy,
    mix_proxy: proxy,
    secret: privateMode,
    p2p: privateMode,
  };
}
