import type { DomainView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd, TextField } from '../../shared/components/fields.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { UserField } from '../parts/user-field.js';
import { useIsAdministrator, useUser } from '../user-context.js';

interface NewDomainProps {
  onClose: () => void;
  onCreated: (domain: DomainView) => void;
}

/** Administrators give a name to a user; everybody else claims one, to prove it. */
export function NewDomain({ onClose, onCreated }: NewDomainProps) {
  const api = useApi();
  const me = useUser();
  const isAdministrator = useIsAdministrator();
  const form = useForm({ name: '', user_id: String(me.id) });
  const create = async ({ name, user_id: userId }: typeof form.values): Promise<void> => {
    const body = { name, ...(isAdministrator && { user_id: Number(userId) }) };
    onCreated(await api.post<DomainView>('/domains', body));
  };
  return (
    <Dialog title={t('domains.add')} onClose={onClose}>
      <form onSubmit={form.submit(create)}>
        <TextField
          label={t('domains.domain')}
          hint={t('domains.domainHint')}
          placeholder="example.org"
          required
          autofocus
          value={form.values.name}
          problem={form.problem('name')}
          onInput={(name) => form.set('name', name)}
        />
        {isAdministrator && (
          <UserField
            label={t('words.owner')}
            value={form.values.user_id}
            problem={form.problem('user_id')}
            onChange={(id) => form.set('user_id', id)}
          />
        )}
        <FormEnd
          error={form.error}
          busy={form.busy}
          action={isAdministrator ? t('domains.assign') : t('domains.next')}
          onCancel={onClose}
        />
      </form>
    </Dialog>
  );
}
