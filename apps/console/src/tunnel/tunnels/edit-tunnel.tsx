import type { TunnelView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { EditDialog } from '../../shared/components/edit-dialog.js';
import { useNotify } from '../../shared/components/notices.js';
import { SaveEnd } from '../../shared/components/save-end.js';
import { useForm } from '../../shared/state/use-form.js';
import type { Row } from '../../shared/state/use-row.js';
import { t } from '../messages/index.js';
import { changesOf, formOf, type TunnelForm } from './tunnel-form.js';
import { TunnelFields } from './tunnel-fields.js';
import { nameOf } from './tunnel-name.js';

interface EditTunnelProps {
  tunnel: TunnelView;
  onClose: () => void;
  onDone: () => void;
}

export function EditTunnel({ tunnel, onClose, onDone }: EditTunnelProps) {
  return (
    <EditDialog<TunnelView>
      title={t('words.editName', { name: nameOf(tunnel) })}
      path={`/tunnels/${tunnel.id}`}
      onClose={onClose}
    >
      {(row, version) => <TunnelEditor tunnel={row} version={version} onClose={onClose} onDone={onDone} />}
    </EditDialog>
  );
}

interface TunnelEditorProps extends EditTunnelProps {
  version: Pick<Row<TunnelView>, 'etag' | 'reload'>;
}

function TunnelEditor({ tunnel, version, onClose, onDone }: TunnelEditorProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<TunnelForm>(formOf(tunnel));
  const save = async (values: TunnelForm): Promise<void> => {
    const changed = await api.patch<TunnelView>(`/tunnels/${tunnel.id}`, changesOf(tunnel, values), version.etag);
    notify(t('words.saved', { name: nameOf(changed) }));
    onDone();
    onClose();
  };
  return (
    <form onSubmit={form.submit(save)}>
      <TunnelFields form={form} isNew={false} stored={tunnel} />
      <SaveEnd form={form} action={t('common.save')} onCancel={onClose} onReload={version.reload} />
    </form>
  );
}
