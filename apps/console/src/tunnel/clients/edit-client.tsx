import type { TunnelClientView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { EditDialog } from '../../shared/components/edit-dialog.js';
import { useNotify } from '../../shared/components/notices.js';
import { SaveEnd } from '../../shared/components/save-end.js';
import { useForm } from '../../shared/state/use-form.js';
import type { Row } from '../../shared/state/use-row.js';
import { t } from '../messages/index.js';
import { ClientFields } from './client-fields.js';
import { changesOf, formOf, type ClientForm } from './client-form.js';

interface EditClientProps {
  client: TunnelClientView;
  onClose: () => void;
  onDone: () => void;
}

export function EditClient({ client, onClose, onDone }: EditClientProps) {
  return (
    <EditDialog<TunnelClientView>
      title={t('words.editName', { name: client.name })}
      path={`/clients/${client.id}`}
      onClose={onClose}
    >
      {(row, version) => <ClientEditor client={row} version={version} onClose={onClose} onDone={onDone} />}
    </EditDialog>
  );
}

interface ClientEditorProps extends EditClientProps {
  version: Pick<Row<TunnelClientView>, 'etag' | 'reload'>;
}

function ClientEditor({ client, version, onClose, onDone }: ClientEditorProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<ClientForm>(formOf(client));
  const save = async (values: ClientForm): Promise<void> => {
    await api.patch(`/clients/${client.id}`, changesOf(client, values), version.etag);
    notify(t('words.saved', { name: values.name }));
    onDone();
    onClose();
  };
  return (
    <form onSubmit={form.submit(save)}>
      <ClientFields form={form} stored={client} />
      <SaveEnd form={form} action={t('common.save')} onCancel={onClose} onReload={version.reload} />
    </form>
  );
}
