import type { TunnelView } from '@gatehouse/contracts';
import { t } from '../messages/index.js';
import { TUNNEL_MODES } from './tunnel-modes.js';

/** Its own name, or what it is. */
export function nameOf({
  name,
  mode,
  listen_port: port,
  id,
}: Pick<TunnelView, 'name' | 'mode' | 'listen_port' | 'id'>) {
  return name ?? (TUNNEL_MODES[mode].hasPort ? `${mode} ${port}` : t('tunnels.named', { mode, id }));
}
