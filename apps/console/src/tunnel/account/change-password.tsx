import { useApi } from '../../shared/api/api-context.js';
import { ApiError } from '../../shared/api/api-error.js';
import { CheckField, FormEnd, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { Card } from '../../shared/components/page.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { NO_PROOF, ProofFields, proofOf, type Proof } from '../parts/proof-fields.js';

interface PasswordForm extends Proof {
  new_password: string;
  again: string;
  revoke_keys: boolean;
}

const EMPTY: PasswordForm = { ...NO_PROOF, new_password: '', again: '', revoke_keys: true };

/** A new password ends every session but this one. */
export function ChangePassword() {
  const api = useApi();
  const notify = useNotify();
  const form = useForm<PasswordForm>(EMPTY);
  const change = async ({ new_password, again, revoke_keys, ...proof }: PasswordForm): Promise<void> => {
    if (new_password !== again) {
      const details = [{ field: 'again', message: t('account.differs') }];
      throw new ApiError(t('account.passwordsDiffer'), { status: 0, code: 'LOCAL', details });
    }
    await api.post('/auth/password', { new_password, revoke_keys, ...proofOf(proof) });
    notify(t('account.changed'));
    for (const field of ['current_password', 'code', 'new_password', 'again'] as const) form.set(field, '');
  };
  const field = (name: 'new_password' | 'again') => ({
    type: 'password' as const,
    autoComplete: 'new-password',
    required: true,
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  return (
    <Card title={t('account.password')}>
      <form onSubmit={form.submit(change)}>
        <ProofFields form={form} />
        <div class="form-row">
          <TextField label={t('account.newPassword')} hint={t('login.passwordHint')} {...field('new_password')} />
          <TextField label={t('account.repeat')} {...field('again')} />
        </div>
        <CheckField
          label={t('account.revokeKeys')}
          checked={form.values.revoke_keys}
          onChange={(revoke) => form.set('revoke_keys', revoke)}
        />
        <FormEnd error={form.error} busy={form.busy} action={t('account.change')} />
      </form>
    </Card>
  );
}
