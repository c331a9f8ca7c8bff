import type { TunnelView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { RowAction } from '../../shared/components/row-actions.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';
import { nameOf } from './tunnel-name.js';

export function StartStop({ tunnel, reload }: { tunnel: TunnelView; reload: () => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  const action = tunnel.status === 1 ? 'stop' : 'start';
  const change = async (): Promise<void> => {
    await run(() => api.post<TunnelView>(`/tunnels/${tunnel.id}/${action}`));
    reload();
  };
  return (
    <RowAction
      label={t(`tunnels.${action}Name`, { name: nameOf(tunnel) })}
      disabled={busy}
      onClick={() => void change()}
    >
      {t(`tunnels.${action}`)}
    </RowAction>
  );
}
