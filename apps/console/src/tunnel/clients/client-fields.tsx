import type { TunnelClientView } from '@gatehouse/contracts';
import { CheckField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { QuotaFields } from '../parts/quota-fields.js';
import { UserField } from '../parts/user-field.js';
import { useIsAdministrator, useUser } from '../user-context.js';
import type { ClientForm } from './client-form.js';

interface ClientFieldsProps {
  form: Form<ClientForm>;
  /** Absent: it is new. */
  stored?: TunnelClientView | null;
  autofocus?: boolean;
}

/** What can be said about a client. */
export function ClientFields({ form, stored = null, autofocus = false }: ClientFieldsProps) {
  const isAdministrator = useIsAdministrator();
  const me = useUser();
  const text = (name: 'name' | 'rate_limit' | 'max_conn' | 'expire_at') => ({
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  return (
    <>
      <TextField
        label={t('common.name')}
        hint={t('clients.nameHint')}
        required
        autofocus={autofocus}
        {...text('name')}
      />
      <div class="form-row">
        <TextField
          label={t('clients.rateLimit')}
          hint={t('clients.rateLimitHint')}
          type="number"
          {...text('rate_limit')}
        />
        <TextField label={t('clients.maxConn')} hint={t('clients.maxConnHint')} type="number" {...text('max_conn')} />
        <TextField
          label={t('common.expires')}
          hint={t('clients.expiresHint')}
          type="datetime-local"
          {...text('expire_at')}
        />
      </div>
      <QuotaFields form={form} stored={stored} />
      <CheckField
        label={t('clients.encrypt')}
        hint={t('clients.encryptHint')}
        checked={form.values.encrypt}
        onChange={(encrypt) => form.set('encrypt', encrypt)}
      />
      {isAdministrator && (
        <UserField
          label={t('words.owner')}
          value={form.values.owner_user_id || String(me.id)}
          problem={form.problem('owner_user_id')}
          onChange={(owner) => form.set('owner_user_id', owner)}
        />
      )}
    </>
  );
}
