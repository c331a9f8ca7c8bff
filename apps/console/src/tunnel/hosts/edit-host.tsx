import type { HostView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { EditDialog } from '../../shared/components/edit-dialog.js';
import { useNotify } from '../../shared/components/notices.js';
import { SaveEnd } from '../../shared/components/save-end.js';
import { useForm } from '../../shared/state/use-form.js';
import type { Row } from '../../shared/state/use-row.js';
import { t } from '../messages/index.js';
import { nameOf } from './host-address.js';
import { HostFields } from './host-fields.js';
import { changesOf, formOf, type HostForm } from './host-form.js';

interface EditHostProps {
  host: HostView;
  onClose: () => void;
  onDone: () => void;
}

export function EditHost({ host, onClose, onDone }: EditHostProps) {
  return (
    <EditDialog<HostView>
      title={t('words.editName', { name: nameOf(host) })}
      path={`/hosts/${host.id}`}
      onClose={onClose}
    >
      {(row, version) => <HostEditor host={row} version={version} onClose={onClose} onDone={onDone} />}
    </EditDialog>
  );
}

function HostEditor({
  host,
  version,
  onClose,
  onDone,
}: EditHostProps & { version: Pick<Row<HostView>, 'etag' | 'reload'> }) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<HostForm>(formOf(host));
  const save = async (values: HostForm): Promise<void> => {
    const changed = await api.patch<HostView>(`/hosts/${host.id}`, changesOf(host, values), version.etag);
    notify(t('words.saved', { name: nameOf(changed) }));
    onDone();
    onClose();
  };
  return (
    <form onSubmit={form.submit(save)}>
      <HostFields form={form} isNew={false} />
      <SaveEnd form={form} action={t('common.save')} onCancel={onClose} onReload={version.reload} />
    </form>
  );
}
