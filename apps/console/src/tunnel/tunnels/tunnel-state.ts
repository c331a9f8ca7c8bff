import type { TunnelView } from '@gatehouse/contracts';
import type { ShownState } from '../clients/client-state.js';
import { t } from '../messages/index.js';

type State = Pick<TunnelView, 'status' | 'run_status' | 'error'>;

/** What is, beside what its owner wants. */
export function stateOf({ status, run_status: runs, error }: State): ShownState {
  if (runs === 3)
    return { tone: 'bad', text: t('tunnels.states.failed'), title: error ?? t('tunnels.stateHints.failed') };
  if (status === 0) return { tone: 'none', text: t('tunnels.states.stopped'), title: t('tunnels.stateHints.stopped') };
  if (runs === 1) return { tone: 'good', text: t('tunnels.states.running') };
  if (runs === 2) return { tone: 'fair', text: t('tunnels.states.waiting'), title: t('tunnels.stateHints.waiting') };
  return { tone: 'info', text: t('tunnels.states.starting'), title: t('tunnels.stateHints.starting') };
}
