import type { NewTunnelApiKeyView, TunnelApiKeyScope, TunnelUserRole } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd, SelectField, TextField } from '../../shared/components/fields.js';
import { useForm } from '../../shared/state/use-form.js';
import { fromLocalField } from '../clients/client-form.js';
import { NO_PROOF, ProofFields, proofOf, type Proof } from '../parts/proof-fields.js';
import { useUser } from '../user-context.js';

const SCOPES: readonly TunnelApiKeyScope[] = ['read', 'write', 'admin'];
const MAY: Record<TunnelApiKeyScope, string> = {
  read: 'read',
  write: 'read and change',
  admin: 'everything an administrator may',
};
/** A key may do no more than its user. */
const HIGHEST: Record<TunnelUserRole, TunnelApiKeyScope> = { admin: 'admin', user: 'write', viewer: 'read' };

interface KeyForm extends Proof {
  name: string;
  scopes: TunnelApiKeyScope;
  expires_at: string;
}

interface NewApiKeyProps {
  onClose: () => void;
  onCreated: (key: NewTunnelApiKeyView) => void;
}

export function NewApiKey({ onClose, onCreated }: NewApiKeyProps) {
  const api = useApi();
  const { role } = useUser();
  const form = useForm<KeyForm>({ name: '', scopes: 'read', expires_at: '', ...NO_PROOF });
  const offered = SCOPES.slice(0, SCOPES.indexOf(HIGHEST[role]) + 1);
  const create = async ({ name, scopes, expires_at: until, ...proof }: KeyForm): Promise<void> => {
    const included = SCOPES.slice(0, SCOPES.indexOf(scopes) + 1);
    const body = { name, scopes: included, expires_at: fromLocalField(until), ...proofOf(proof) };
    onCreated(await api.post<NewTunnelApiKeyView>('/api-keys', body));
  };
  return (
    <Dialog title="New API key" onClose={onClose}>
      <form onSubmit={form.submit(create)}>
        <TextField
          label="Name"
          hint="What will use it"
          required
          autofocus
          value={form.values.name}
          problem={form.problem('name')}
          onInput={(name) => form.set('name', name)}
        />
        <SelectField
          label="It may"
          value={form.values.scopes}
          problem={form.problem('scopes')}
          choices={offered.map((value) => ({ value, label: MAY[value] }))}
          onChange={(scope) => form.set('scopes', scope as TunnelApiKeyScope)}
        />
        <TextField
          label="Until"
          hint="Empty: for good"
          type="datetime-local"
          value={form.values.expires_at}
          problem={form.problem('expires_at')}
          onInput={(until) => form.set('expires_at', until)}
        />
        <ProofFields form={form} />
        <FormEnd error={form.error} busy={form.busy} action="Create" onCancel={onClose} />
      </form>
    </Dialog>
  );
}
