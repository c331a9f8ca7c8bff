import type { ConnectionsClosedResponse } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm } from '../../shared/components/dialog.js';
import { useNotify } from '../../shared/components/notices.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';
import { isFiltered, type ConnectionFilter } from './connection-filter.js';

interface CloseManyProps {
  filter: ConnectionFilter;
  /** How many match it. */
  count: number;
  onDone: () => void;
}

/** Closes what the list shows. The service finds the connections itself, so those that came since are closed as well. */
export function CloseMany({ filter, count, onDone }: CloseManyProps) {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const [asking, setAsking] = useState(false);
  const hasFilter = isFiltered(filter);
  const close = async (): Promise<void> => {
    await run(async () => {
      const query = { ...filter, search: filter.search.trim() };
      const { closed } = await api.delete<ConnectionsClosedResponse>('/connections', query);
      notify(t('connections.closed', { count: closed }));
    });
    setAsking(false);
    onDone();
  };
  return (
    <>
      <button type="button" class="danger" disabled={count === 0} onClick={() => setAsking(true)}>
        {hasFilter ? t('connections.closeFound') : t('connections.closeAll')}
      </button>
      {asking && (
        <Confirm
          title={t('connections.closeTitle')}
          action={t('connections.closeAction')}
          busy={busy}
          onConfirm={() => void close()}
          onClose={() => setAsking(false)}
        >
          <p>{t(hasFilter ? 'connections.closeFoundText' : 'connections.closeAllText', { count })}</p>
        </Confirm>
      )}
    </>
  );
}
