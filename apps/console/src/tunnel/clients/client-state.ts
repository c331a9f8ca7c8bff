import type { TunnelClientView } from '@gatehouse/contracts';
import type { BadgeTone } from '../../shared/components/badge-tone.js';
import { t } from '../messages/index.js';

export interface ShownState {
  tone: BadgeTone;
  text: string;
  /** More about it. */
  title?: string;
}

/** What a client is doing, in a word. */
export function stateOf(client: Pick<TunnelClientView, 'status' | 'expired' | 'online'>): ShownState {
  if (client.status === 0)
    return { tone: 'none', text: t('clients.states.disabled'), title: t('clients.stateHints.disabled') };
  if (client.expired) return { tone: 'bad', text: t('clients.states.expired'), title: t('clients.stateHints.expired') };
  if (client.online === null)
    return { tone: 'none', text: t('clients.states.unknown'), title: t('clients.stateHints.unknown') };
  if (client.online) return { tone: 'good', text: t('clients.states.online') };
  return { tone: 'fair', text: t('clients.states.offline'), title: t('clients.stateHints.offline') };
}
