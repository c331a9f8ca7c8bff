import type { TunnelClientView } from '@gatehouse/contracts';
import { t } from '../messages/index.js';

/** What the buttons of a client open. */
export type ClientAction = 'edit' | 'rotate' | 'kick' | 'reset' | 'remove';

interface ClientActionsProps {
  client: TunnelClientView;
  onAction: (action: ClientAction, client: TunnelClientView) => void;
}

export function ClientActions({ client, onAction }: ClientActionsProps) {
  return (
    <div class="actions">
      <button type="button" onClick={() => onAction('edit', client)}>
        {t('common.edit')}
      </button>
      <button type="button" onClick={() => onAction('rotate', client)}>
        {t('clients.newKey')}
      </button>
      <button type="button" disabled={client.online !== true} onClick={() => onAction('kick', client)}>
        {t('clients.disconnect')}
      </button>
      <button type="button" onClick={() => onAction('reset', client)}>
        {t('clients.resetTraffic')}
      </button>
      <button type="button" class="danger" onClick={() => onAction('remove', client)}>
        {t('common.deleteMore')}
      </button>
    </div>
  );
}
