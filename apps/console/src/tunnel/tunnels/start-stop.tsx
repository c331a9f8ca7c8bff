import type { TunnelView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { RowAction } from '../../shared/components/row-actions.js';
import { useAction } from '../../shared/state/use-action.js';
import { nameOf } from './tunnel-name.js';

export function StartStop({ tunnel, reload }: { tunnel: TunnelView; reload: () => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  const deed = tunnel.status === 1 ? 'stop' : 'start';
  const change = async (): Promise<void> => {
    await run(() => api.post<TunnelView>(`/tunnels/${tunnel.id}/${deed}`));
    reload();
  };
  return (
    <RowAction
      label={`${deed === 'stop' ? 'Stop' : 'Start'} ${nameOf(tunnel)}`}
      disabled={busy}
      onClick={() => void change()}
    >
      {deed === 'stop' ? 'Stop' : 'Start'}
    </RowAction>
  );
}
