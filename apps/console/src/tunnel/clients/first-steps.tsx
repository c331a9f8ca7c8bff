import type { NewTunnelClientView, TunnelClientView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Badge, Trouble } from '../../shared/components/page.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { AgentCommand } from './agent-command.js';
import { stateOf } from './client-state.js';

interface FirstStepsProps {
  client: NewTunnelClientView;
  /** The address of what comes next; null: what is below the dialog. */
  next: string | null;
  onClose: () => void;
}

/** After a client was made: its command, and whether the agent has come. */
export function FirstSteps({ client, next, onClose }: FirstStepsProps) {
  const api = useApi();
  const { data, error } = useResource(
    (signal) => api.get<TunnelClientView>(`/clients/${client.id}`, {}, signal),
    [client.id],
    {
      everyMs: 1_500,
    },
  );
  const isOnline = data?.online === true;
  const state = stateOf(data ?? client);
  return (
    <Dialog title={t('clients.createdTitle', { name: client.name })} onClose={onClose} wide>
      <AgentCommand client={client} />
      <Trouble error={error} />
      <p role="status">
        <Badge tone={state.tone}>{state.text}</Badge>{' '}
        {isOnline ? t('clients.agentConnected') : t('clients.agentWaiting')}
      </p>
      <div class="dialog-actions">
        <button type="button" class={next === null && isOnline ? 'primary' : ''} onClick={onClose}>
          {t('clients.keySaved')}
        </button>
        {next !== null && (
          <a class={isOnline ? 'button primary' : 'button'} href={next} onClick={onClose}>
            {t('publishing.title')}
          </a>
        )}
      </div>
    </Dialog>
  );
}
