import type { AddressListView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { EditDialog } from '../../shared/components/edit-dialog.js';
import { CheckField, FormEnd, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { SaveEnd } from '../../shared/components/save-end.js';
import { useForm, type Form } from '../../shared/state/use-form.js';
import type { Row } from '../../shared/state/use-row.js';
import { t } from '../messages/index.js';
import { formOf, toBody, toChanges, type AddressListForm } from './address-list-form.js';

interface ListDialogProps {
  onClose: () => void;
  onDone: () => void;
}

export function NewAddressList({ onClose, onDone }: ListDialogProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<AddressListForm>(formOf(null));
  const create = async (values: AddressListForm): Promise<void> => {
    const { name } = await api.post<AddressListView>('/address-lists', toBody(values));
    notify(t('lists.added', { name }));
    onDone();
    onClose();
  };
  return (
    <Dialog title={t('lists.add')} onClose={onClose}>
      <form onSubmit={form.submit(create)}>
        <TextField
          label={t('common.name')}
          hint={t('lists.nameHint')}
          required
          autofocus
          value={form.values.name}
          problem={form.problem('name')}
          onInput={(text) => form.set('name', text)}
        />
        <ListFields form={form} />
        <FormEnd error={form.error} busy={form.busy} action={t('words.create')} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

export function EditAddressList({ list, onClose, onDone }: ListDialogProps & { list: AddressListView }) {
  return (
    <EditDialog<AddressListView>
      title={t('words.editName', { name: list.name })}
      path={`/address-lists/${list.id}`}
      onClose={onClose}
    >
      {(row, version) => <ListEditor list={row} version={version} onClose={onClose} onDone={onDone} />}
    </EditDialog>
  );
}

interface ListEditorProps extends ListDialogProps {
  list: AddressListView;
  version: Pick<Row<AddressListView>, 'etag' | 'reload'>;
}

function ListEditor({ list, version, onClose, onDone }: ListEditorProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<AddressListForm>(formOf(list));
  const save = async (values: AddressListForm): Promise<void> => {
    await api.patch(`/address-lists/${list.id}`, toChanges(values), version.etag);
    notify(t('words.saved', { name: list.name }));
    onDone();
    onClose();
  };
  return (
    <form onSubmit={form.submit(save)}>
      <ListFields form={form} />
      <SaveEnd form={form} action={t('common.save')} onCancel={onClose} onReload={version.reload} />
    </form>
  );
}

function ListFields({ form }: { form: Form<AddressListForm> }) {
  return (
    <>
      <TextField
        label={t('lists.url')}
        hint={t('lists.urlHint')}
        type="url"
        placeholder="https://example.org/addresses.txt"
        required
        value={form.values.url}
        problem={form.problem('url')}
        onInput={(text) => form.set('url', text)}
      />
      <TextField
        label={t('lists.interval')}
        hint={t('lists.intervalHint')}
        type="number"
        value={form.values.interval_minutes}
        problem={form.problem('interval_minutes')}
        onInput={(text) => form.set('interval_minutes', text)}
      />
      <CheckField
        label={t('lists.allowPrivate')}
        hint={t('lists.allowPrivateHint')}
        checked={form.values.allow_private}
        onChange={(on) => form.set('allow_private', on)}
      />
    </>
  );
}
