import type { NewTunnelView, TunnelView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm } from '../../shared/components/dialog.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { useAction } from '../../shared/state/use-action.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { EditTunnel } from './edit-tunnel.js';
import { NewTunnel } from './new-tunnel.js';
import { nameOf } from './tunnel-name.js';
import type { TunnelAction } from './tunnel-table.js';
import { VisitorKey } from './visitor-key.js';

export type Opened =
  { action: 'new' } | { action: 'key'; tunnel: NewTunnelView } | { action: TunnelAction; tunnel: TunnelView };

interface OpenedTunnelProps {
  opened: Opened;
  /** For a new one; empty: to be chosen. */
  clientId: string;
  onCreated: (tunnel: NewTunnelView) => void;
  onClose: () => void;
  reload: () => void;
}

export function OpenedTunnel({ opened, clientId, onCreated, onClose, reload }: OpenedTunnelProps) {
  switch (opened.action) {
    case 'new':
      return <NewTunnel clientId={clientId} onClose={onClose} onCreated={onCreated} />;
    case 'key':
      return <VisitorKey tunnel={opened.tunnel} onClose={onClose} />;
    case 'edit':
      return <EditTunnel tunnel={opened.tunnel} onClose={onClose} onDone={reload} />;
    case 'rotate':
      return <RotateVisitorKey tunnel={opened.tunnel} onClose={onClose} onMade={onCreated} />;
    case 'remove':
      return <RemoveTunnel tunnel={opened.tunnel} onClose={onClose} onDone={reload} />;
  }
}

interface RotateProps {
  tunnel: TunnelView;
  onClose: () => void;
  onMade: (tunnel: NewTunnelView) => void;
}

function RotateVisitorKey({ tunnel, onClose, onMade }: RotateProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const rotate = (): Promise<boolean> =>
    run(async () => onMade(await api.post<NewTunnelView>(`/tunnels/${tunnel.id}/rotate-visitor-key`)));
  return (
    <Confirm
      title={t('tunnels.rotateTitle')}
      action={t('tunnels.rotate')}
      busy={busy}
      onConfirm={() => void rotate()}
      onClose={onClose}
    >
      <p>{rich('tunnels.rotateText', { name: nameOf(tunnel), b: bold })}</p>
    </Confirm>
  );
}

interface RemoveProps {
  tunnel: TunnelView;
  onClose: () => void;
  onDone: () => void;
}

function RemoveTunnel({ tunnel, onClose, onDone }: RemoveProps) {
  const name = nameOf(tunnel);
  return (
    <RemoveDialog
      title={t('tunnels.deleteTitle')}
      path={`/tunnels/${tunnel.id}`}
      name={name}
      onClose={onClose}
      onDone={onDone}
    >
      <p>{rich('tunnels.deleteText', { name, b: bold })}</p>
    </RemoveDialog>
  );
}
