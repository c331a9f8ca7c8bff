import type { TunnelClientView } from '@gatehouse/contracts';
import type { BadgeTone } from '../../shared/components/badge-tone.js';

export interface ShownState {
  tone: BadgeTone;
  text: string;
  /** More about it. */
  title?: string;
}

/** What a client is doing, in a word. */
export function stateOf(client: Pick<TunnelClientView, 'status' | 'expired' | 'online'>): ShownState {
  if (client.status === 0) return { tone: 'none', text: 'disabled', title: 'Its agent is refused' };
  if (client.expired) return { tone: 'bad', text: 'expired', title: 'Its time is over: as if disabled' };
  if (client.online === null) return { tone: 'none', text: 'unknown', title: 'The data plane does not answer' };
  if (client.online) return { tone: 'good', text: 'online' };
  return { tone: 'fair', text: 'offline', title: 'No agent is connected' };
}
