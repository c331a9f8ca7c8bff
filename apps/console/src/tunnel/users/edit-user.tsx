import type { TunnelUserRole, TunnelUserView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { EditDialog } from '../../shared/components/edit-dialog.js';
import { CheckField, FormEnd, SelectField, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { SaveEnd } from '../../shared/components/save-end.js';
import { useForm, type Form } from '../../shared/state/use-form.js';
import type { Row } from '../../shared/state/use-row.js';
import { t } from '../messages/index.js';
import { QuotaFields } from '../parts/quota-fields.js';
import { changesOf, formOf, ROLES, toBody, type UserForm } from './user-form.js';

interface UserDialogProps {
  onClose: () => void;
  onDone: () => void;
}

export function NewUser({ onClose, onDone }: UserDialogProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<UserForm>(formOf(null));
  const create = async (values: UserForm): Promise<void> => {
    await api.post<TunnelUserView>('/users', toBody(values));
    notify(t('users.created', { name: values.username }));
    onDone();
    onClose();
  };
  return (
    <Dialog title={t('users.add')} onClose={onClose}>
      <form onSubmit={form.submit(create)}>
        <UserFields form={form} user={null} />
        <FormEnd error={form.error} busy={form.busy} action={t('words.create')} onCancel={onClose} />
      </form>
    </Dialog>
  );
}

export function EditUser({ user, onClose, onDone }: UserDialogProps & { user: TunnelUserView }) {
  return (
    <EditDialog<TunnelUserView>
      title={t('words.editName', { name: user.username })}
      path={`/users/${user.id}`}
      onClose={onClose}
    >
      {(row, version) => <UserEditor user={row} version={version} onClose={onClose} onDone={onDone} />}
    </EditDialog>
  );
}

interface UserEditorProps extends UserDialogProps {
  user: TunnelUserView;
  version: Pick<Row<TunnelUserView>, 'etag' | 'reload'>;
}

function UserEditor({ user, version, onClose, onDone }: UserEditorProps) {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<UserForm>(formOf(user));
  const save = async (values: UserForm): Promise<void> => {
    await api.patch(`/users/${user.id}`, changesOf(user, values), version.etag);
    notify(t('words.saved', { name: values.username }));
    onDone();
    onClose();
  };
  return (
    <form onSubmit={form.submit(save)}>
      <UserFields form={form} user={user} />
      <SaveEnd form={form} action={t('common.save')} onCancel={onClose} onReload={version.reload} />
    </form>
  );
}

function UserFields({ form, user }: { form: Form<UserForm>; user: TunnelUserView | null }) {
  return (
    <>
      <TextField
        label={t('signIn.username')}
        required
        autofocus={user === null}
        autoComplete="off"
        value={form.values.username}
        problem={form.problem('username')}
        onInput={(name) => form.set('username', name)}
      />
      <SelectField
        label={t('users.role')}
        hint={ROLES[form.values.role].about}
        value={form.values.role}
        choices={Object.entries(ROLES).map(([value, { label }]) => ({ value, label }))}
        problem={form.problem('role')}
        onChange={(role) => form.set('role', role as TunnelUserRole)}
      />
      <TextField
        label={user === null ? t('signIn.password') : t('users.newPassword')}
        hint={user === null ? t('login.passwordHint') : t('users.newPasswordHint')}
        type="password"
        autoComplete="new-password"
        required={user === null}
        value={form.values.password}
        problem={form.problem('password')}
        onInput={(password) => form.set('password', password)}
      />
      <QuotaFields form={form} stored={user} />
      {user?.totp && (
        <CheckField
          label={t('users.resetTotp')}
          hint={t('users.resetTotpHint')}
          checked={form.values.reset_totp}
          problem={form.problem('reset_totp')}
          onChange={(reset) => form.set('reset_totp', reset)}
        />
      )}
    </>
  );
}
