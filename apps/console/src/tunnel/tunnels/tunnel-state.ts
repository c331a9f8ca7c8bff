import type { TunnelView } from '@gatehouse/contracts';
import type { ShownState } from '../clients/client-state.js';

type State = Pick<TunnelView, 'status' | 'run_status' | 'error'>;

/** What is, beside what its owner wants. */
export function stateOf({ status, run_status: runs, error }: State): ShownState {
  if (runs === 3) return { tone: 'bad', text: 'failed', title: error ?? 'The gateway did not say why' };
  if (status === 0) return { tone: 'none', text: 'stopped', title: 'Switched off' };
  if (runs === 1) return { tone: 'good', text: 'running' };
  if (runs === 2) return { tone: 'fair', text: 'waiting', title: 'The agent of its client is not connected' };
  return { tone: 'info', text: 'starting', title: 'The data plane has not opened it yet' };
}
