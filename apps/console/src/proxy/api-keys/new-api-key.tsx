import { API_KEY_SCOPES, type ApiKeyCreatedResponse, type ApiKeyScope } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd, SelectField, TextField } from '../../shared/components/fields.js';
import { useForm } from '../../shared/state/use-form.js';

const MAY: Record<ApiKeyScope, string> = {
  read: 'read, without secrets',
  write: 'read and change',
  admin: 'everything, keys and settings too',
};

interface KeyForm {
  name: string;
  scopes: ApiKeyScope;
  expires_at: string;
}

export function NewApiKey({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated: (key: ApiKeyCreatedResponse) => void;
}) {
  const api = useApi();
  const form = useForm<KeyForm>({ name: '', scopes: 'read', expires_at: '' });
  const create = async ({ name, scopes, expires_at: until }: KeyForm): Promise<void> => {
    const included = API_KEY_SCOPES.slice(0, API_KEY_SCOPES.indexOf(scopes) + 1);
    const expiry = until === '' ? {} : { expires_at: new Date(until).toISOString() };
    onCreated(await api.post<ApiKeyCreatedResponse>('/api-keys', { name, scopes: included, ...expiry }));
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
          choices={API_KEY_SCOPES.map((value) => ({ value, label: MAY[value] }))}
          onChange={(scope) => form.set('scopes', scope as ApiKeyScope)}
        />
        <TextField
          label="Until"
          hint="Empty: for good"
          type="datetime-local"
          value={form.values.expires_at}
          problem={form.problem('expires_at')}
          onInput={(until) => form.set('expires_at', until)}
        />
        <FormEnd error={form.error} busy={form.busy} action="Create" onCancel={onClose} />
      </form>
    </Dialog>
  );
}
