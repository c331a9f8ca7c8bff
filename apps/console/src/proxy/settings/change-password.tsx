import type { LoginResponse } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { ApiError } from '../../shared/api/api-error.js';
import { FormEnd, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { Card } from '../../shared/components/page.js';
import { useForm } from '../../shared/state/use-form.js';
import { useSession } from '../../shared/frame/session-context.js';
import { t } from '../messages/index.js';

interface PasswordForm {
  current_password: string;
  new_password: string;
  again: string;
}

const EMPTY: PasswordForm = { current_password: '', new_password: '', again: '' };

/** A new password ends every session but this one, which gets a new token. */
export function ChangePassword() {
  const api = useApi();
  const session = useSession();
  const notify = useNotify();
  const form = useForm<PasswordForm>(EMPTY);
  const change = async ({ current_password, new_password, again }: PasswordForm): Promise<void> => {
    if (new_password !== again) {
      const details = [{ field: 'again', message: t('settingsPage.differs') }];
      throw new ApiError(t('settingsPage.passwordsDiffer'), { status: 0, code: 'LOCAL', details });
    }
    const { token } = await api.post<LoginResponse>('/auth/password', { current_password, new_password });
    if (session.state === 'signed-in') session.signIn(token);
    notify(t('settingsPage.passwordChanged'));
    for (const [field, value] of Object.entries(EMPTY)) form.set(field as keyof PasswordForm, value as string);
  };
  const field = (name: keyof PasswordForm) => ({
    type: 'password' as const,
    required: true,
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  return (
    <Card title={t('settingsPage.passwordTitle')}>
      <form onSubmit={form.submit(change)}>
        <div class="form-row">
          <TextField label={t('settingsPage.current')} autoComplete="current-password" {...field('current_password')} />
          <TextField label={t('settingsPage.next')} autoComplete="new-password" {...field('new_password')} />
          <TextField label={t('settingsPage.again')} autoComplete="new-password" {...field('again')} />
        </div>
        <FormEnd error={form.error} busy={form.busy} action={t('settingsPage.changePassword')} />
      </form>
    </Card>
  );
}
