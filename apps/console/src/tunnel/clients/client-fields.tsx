import { CheckField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { UserField } from '../parts/user-field.js';
import { useIsAdministrator, useUser } from '../user-context.js';
import type { ClientForm } from './client-form.js';

/** What can be said about a client. */
export function ClientFields({ form, autofocus = false }: { form: Form<ClientForm>; autofocus?: boolean }) {
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
        label="Name"
        hint="Where the agent will run: a machine or a place"
        required
        autofocus={autofocus}
        {...text('name')}
      />
      <div class="form-row">
        <TextField
          label="Speed at most (KiB/s)"
          hint="0: no limit. Both directions together"
          type="number"
          {...text('rate_limit')}
        />
        <TextField label="Connections at a time" hint="0: no limit" type="number" {...text('max_conn')} />
        <TextField label="Until" hint="Empty: for good" type="datetime-local" {...text('expire_at')} />
      </div>
      <CheckField
        label="Encrypt what goes between gateway and agent"
        hint="Costs some processor time; leave it on unless the line between them is your own"
        checked={form.values.encrypt}
        onChange={(encrypt) => form.set('encrypt', encrypt)}
      />
      {isAdministrator && (
        <UserField
          label="Owner"
          value={form.values.owner_user_id || String(me.id)}
          problem={form.problem('owner_user_id')}
          onChange={(owner) => form.set('owner_user_id', owner)}
        />
      )}
    </>
  );
}
