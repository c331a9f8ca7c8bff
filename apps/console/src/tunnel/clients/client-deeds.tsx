import type { RotatedClientKeyView, TunnelClientView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm } from '../../shared/components/dialog.js';
import { SelectField } from '../../shared/components/fields.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { SecretDialog } from '../../shared/components/secret-dialog.js';
import { formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { AgentCommand } from './agent-command.js';
import type { ClientDeed } from './client-actions.js';
import { EditClient } from './edit-client.js';

interface DeedProps {
  client: TunnelClientView;
  onClose: () => void;
  onDone: () => void;
}

/** The dialog of a deed. */
export function ClientDeedDialog({ deed, ...props }: DeedProps & { deed: ClientDeed }) {
  switch (deed) {
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
  { value: '0', label: 'now' },
  { value: '3600', label: 'in an hour' },
  { value: '86400', label: 'in a day' },
  { value: '604800', label: 'in a week' },
];

function RotateKey({ client, onClose, onDone }: DeedProps) {
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
      <SecretDialog title={`The new key of ${client.name}`} onClose={onClose} wide>
        <AgentCommand client={made} />
        {made.previous_key_until && <p>The old key works until {formatTime(made.previous_key_until)}.</p>}
      </SecretDialog>
    );
  }
  return (
    <Confirm title="Make a new key?" action="Make it" busy={busy} onConfirm={() => void rotate()} onClose={onClose}>
      <SelectField label="The old key ends" value={grace} choices={GRACE_PERIODS} onChange={setGrace} />
      <p>
        {grace === '0' ? 'Now' : 'If it still uses the old key then'}, the agent of <strong>{client.name}</strong> is
        cut off with all its visitors. It comes back when it is started with the new key.
      </p>
    </Confirm>
  );
}

function Kick({ client, onClose, onDone }: DeedProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const kick = async (): Promise<void> => {
    if (!(await run(() => api.post(`/clients/${client.id}/kick`), `${client.name} was disconnected.`))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm
      title="Disconnect the agent?"
      action="Disconnect"
      busy={busy}
      onConfirm={() => void kick()}
      onClose={onClose}
    >
      <p>
        All visitors of <strong>{client.name}</strong> are cut off. The agent reconnects within seconds; to keep it out,
        disable the client.
      </p>
    </Confirm>
  );
}

function ResetTraffic({ client, onClose, onDone }: DeedProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const reset = async (): Promise<void> => {
    const path = `/clients/${client.id}/reset-traffic`;
    if (!(await run(() => api.post(path), `The traffic of ${client.name} counts from zero.`))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm title="Reset the traffic?" action="Reset" busy={busy} onConfirm={() => void reset()} onClose={onClose}>
      <p>
        The totals of <strong>{client.name}</strong> and of its tunnels and hosts begin with zero again. That cannot be
        taken back.
      </p>
    </Confirm>
  );
}

function RemoveClient({ client, onClose, onDone }: DeedProps) {
  return (
    <RemoveDialog
      title="Delete this client?"
      path={`/clients/${client.id}`}
      name={client.name}
      onClose={onClose}
      onDone={onDone}
    >
      <p>
        <strong>{client.name}</strong> goes with all its tunnels, hosts, rules and policies. Its agent and its visitors
        are cut off.
      </p>
    </RemoveDialog>
  );
}
