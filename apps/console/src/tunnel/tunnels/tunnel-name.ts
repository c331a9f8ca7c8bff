import type { TunnelView } from '@gatehouse/contracts';
import { t } from '../messages/index.js';
import { TUNNEL_MODES } from './tunnel-modes.js';
import { textOfPorts } from './tunnel-ports.js';

type Named = Pick<TunnelView, 'name' | 'mode' | 'listen_port' | 'id'> & Partial<Pick<TunnelView, 'port_count'>>;

/** Its own name, or what it is. */
export function nameOf(tunnel: Named) {
  const { name, mode, id } = tunnel;
  return name ?? (TUNNEL_MODES[mode].hasPort ? `${mode} ${textOfPorts(tunnel)}` : t('tunnels.named', { mode, id }));
}
