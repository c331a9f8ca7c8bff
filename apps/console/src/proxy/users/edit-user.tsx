import { QUOTA_PERIODS, type ProxyUserView, type QuotaPeriod } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { CheckField, FormEnd, SelectField, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { useForm, type Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { formOf, toBody, userChanges, type UserForm } from './user-form.js';

const PERIODS = QUOTA_PERIODS.map((value) => ({ value, label: t(`proxyUsers.periods.${value}`) }));

interface EditUserProps {
  /** Null: a new one. */
  user: ProxyUserView | null;
  onClose: () => void;
  /** A new one, with its password. */
  onCreated: (user: ProxyUserView) => void;
  onDone: () => void;
}

export function EditUser({ user: listed, onClose, onCreated, onDone }: EditUserProps) {
  const api = useApi();
  const notify = useNotify();
  // As it was when the form was opened: the list goes on being read.
  const [user] = useState(listed);
  const form = useForm<UserForm>(formOf(user));
  const save = async (values: UserForm): Promise<void> => {
    if (user === null) return onCreated(await api.post<ProxyUserView>('/proxy-users', toBody(values)));
    await api.patch(`/proxy-users/${user.id}`, userChanges(user, values));
    notify(t('words.saved', { name: values.name }));
    onDone();
    onClose();
  };
  return (
    <Dialog title={user ? t('proxyUsers.editTitle', { name: user.name }) : t('proxyUsers.add')} onClose={onClose} wide>
      <form onSubmit={form.submit(save)}>
        <LoginFields form={form} isNew={user === null} />
        <LimitFields form={form} />
        <CheckField
          label={t('common.enabled')}
          hint={t('proxyUsers.enabledHint')}
          checked={form.values.enabled}
          problem={form.problem('enabled')}
          onChange={(enabled) => form.set('enabled', enabled)}
        />
        <FormEnd
          error={form.error}
          busy={form.busy}
          action={user ? t('common.save') : t('common.add')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}

type TextName = Exclude<keyof UserForm, 'enabled' | 'quota_period'>;

function textOf(form: Form<UserForm>, name: TextName) {
  return {
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  };
}

function LoginFields({ form, isNew }: { form: Form<UserForm>; isNew: boolean }) {
  return (
    <div class="form-row">
      <TextField label={t('common.name')} required autofocus={isNew} {...textOf(form, 'name')} />
      <TextField
        label={t('proxyUsers.password')}
        hint={isNew ? t('proxyUsers.passwordHint') : t('proxyUsers.passwordKept')}
        autoComplete="off"
        {...textOf(form, 'password')}
      />
      <TextField label={t('proxyUsers.note')} hint={t('common.optional')} {...textOf(form, 'note')} />
    </div>
  );
}

function LimitFields({ form }: { form: Form<UserForm> }) {
  return (
    <>
      <div class="form-row">
        <TextField label={t('proxyUsers.quota')} hint={t('proxyUsers.noLimit')} {...textOf(form, 'traffic_quota')} />
        <SelectField
          label={t('proxyUsers.period')}
          hint={t('proxyUsers.periodHint')}
          value={form.values.quota_period}
          choices={PERIODS}
          onChange={(period) => form.set('quota_period', period as QuotaPeriod)}
        />
        <TextField label={t('proxyUsers.rate')} hint={t('proxyUsers.noLimit')} {...textOf(form, 'rate_limit')} />
      </div>
      <div class="form-row">
        <TextField
          label={t('proxyUsers.maxConnections')}
          hint={t('proxyUsers.noLimit')}
          type="number"
          {...textOf(form, 'max_connections')}
        />
        <TextField
          label={t('common.expires')}
          hint={t('apiKeys.expiresHint')}
          type="datetime-local"
          {...textOf(form, 'expires_at')}
        />
        <TextField
          label={t('proxyUsers.allowedAddresses')}
          hint={t('publications.allowedHint')}
          {...textOf(form, 'allowed_addresses')}
        />
      </div>
    </>
  );
}
