import type { ConnectionsClosedResponse } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm } from '../../shared/components/dialog.js';
import { useNotify } from '../../shared/components/notices.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';

interface CloseManyProps {
  /** Empty: all connections. */
  search: string;
  total: number;
  onDone: () => void;
}

export function CloseMany({ search, total, onDone }: CloseManyProps) {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const [asking, setAsking] = useState(false);
  const close = async (): Promise<void> => {
    await run(async () => {
      const { closed } = await api.delete<ConnectionsClosedResponse>('/connections', { search });
      notify(t('connections.closed', { count: closed }));
    });
    setAsking(false);
    onDone();
  };
  return (
    <>
      <button type="button" class="danger" disabled={total === 0} onClick={() => setAsking(true)}>
        {search === '' ? t('connections.closeAll') : t('connections.closeFound')}
      </button>
      {asking && (
        <Confirm
          title={t('connections.closeTitle')}
          action={t('connections.closeAction')}
          busy={busy}
          onConfirm={() => void close()}
          onClose={() => setAsking(false)}
        >
          <p>
            {search === ''
              ? t('connections.closeAllText', { count: total })
              : t('connections.closeFoundText', { count: total, search })}
          </p>
        </Confirm>
      )}
    </>
  );
}
