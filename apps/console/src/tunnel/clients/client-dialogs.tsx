import type { RotatedClientKeyView, TunnelClientView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm } from '../../shared/components/dialog.js';
import { SelectField } from '../../shared/components/fields.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { SecretDialog } from '../../shared/components/secret-dialog.js';
import { formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { AgentCommand } from './agent-command.js';
import type { ClientAction } from './client-actions.js';
import { EditClient } from './edit-client.js';

interface ActionProps {
  client: TunnelClientView;
  onClose: () => void;
  onDone: () => void;
}

/** The dialog that a button of a client opens. */
export function ClientActionDialog({ action, ...props }: ActionProps & { action: ClientAction }) {
  switch (action) {
    case 'edit':
      return <EditClient {...props} />;
    case 'rotate':
      return <RotateKey {...props} />;
    case 'kick':
      return <Kick {...props} />;
    case 'reset':
      return <ResetTraffic {...props} />;
    case 'remove':
      return <RemoveClient {...props} />;
  }
}

const GRACE_PERIODS = [
  { value: '0', label: t('clients.graces.now') },
  { value: '3600', label: t('clients.graces.hour') },
  { value: '86400', label: t('clients.graces.day') },
  { value: '604800', label: t('clients.graces.week') },
];

function RotateKey({ client, onClose, onDone }: ActionProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const [made, setMade] = useState<RotatedClientKeyView | null>(null);
  const [grace, setGrace] = useState('0');
  const rotate = (): Promise<boolean> =>
    run(async () => {
      const body = { grace_seconds: Number(grace) };
      setMade(await api.post<RotatedClientKeyView>(`/clients/${client.id}/rotate-key`, body));
      onDone();
    });
  if (made !== null) {
    return (
      <SecretDialog title={t('clients.newKeyOf', { name: client.name })} onClose={onClose} wide>
        <AgentCommand client={made} />
        {made.previous_key_until && <p>{t('clients.oldKeyWorks', { time: formatTime(made.previous_key_until) })}</p>}
      </SecretDialog>
    );
  }
  return (
    <Confirm
      title={t('clients.rotateTitle')}
      action={t('clients.rotate')}
      busy={busy}
      onConfirm={() => void rotate()}
      onClose={onClose}
    >
      <SelectField label={t('clients.oldKeyEnds')} value={grace} choices={GRACE_PERIODS} onChange={setGrace} />
      <p>{rich(grace === '0' ? 'clients.rotateNow' : 'clients.rotateLater', { name: client.name, b: bold })}</p>
    </Confirm>
  );
}

function Kick({ client, onClose, onDone }: ActionProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const kick = async (): Promise<void> => {
    if (!(await run(() => api.post(`/clients/${client.id}/kick`), t('clients.kicked', { name: client.name })))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm
      title={t('clients.kickTitle')}
      action={t('clients.kick')}
      busy={busy}
      onConfirm={() => void kick()}
      onClose={onClose}
    >
      <p>{rich('clients.kickText', { name: client.name, b: bold })}</p>
    </Confirm>
  );
}

function ResetTraffic({ client, onClose, onDone }: ActionProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const reset = async (): Promise<void> => {
    const path = `/clients/${client.id}/reset-traffic`;
    if (!(await run(() => api.post(path), t('clients.resetDone', { name: client.name })))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm
      title={t('clients.resetTitle')}
      action={t('clients.reset')}
      busy={busy}
      onConfirm={() => void reset()}
      onClose={onClose}
    >
      <p>{rich('clients.resetText', { name: client.name, b: bold })}</p>
    </Confirm>
  );
}

function RemoveClient({ client, onClose, onDone }: ActionProps) {
  return (
    <RemoveDialog
      title={t('clients.deleteTitle')}
      path={`/clients/${client.id}`}
      name={client.name}
      onClose={onClose}
      onDone={onDone}
    >
      <p>{rich('clients.deleteText', { name: client.name, b: bold })}</p>
    </RemoveDialog>
  );
}
