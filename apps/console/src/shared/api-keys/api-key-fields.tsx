import type { ApiKeyScope } from '@gatehouse/contracts';
import { SelectField, TextField, type Choice } from '../components/fields.js';
import { fromLocalField } from '../format/times.js';
import type { Form } from '../state/use-form.js';
import { t } from '../messages/index.js';
import { scopesUpTo, type KeyScopeWords } from './key-scopes.js';

export interface ApiKeyForm {
  name: string;
  scopes: ApiKeyScope;
  /** Local time, as the browser's own field has it; empty: never. */
  expires_at: string;
}

export const NEW_KEY: ApiKeyForm = { name: '', scopes: 'read', expires_at: '' };

/** What the service wants to know of a new key. */
export function toKeyBody({ name, scopes, expires_at }: ApiKeyForm) {
  const until = fromLocalField(expires_at);
  return { name, scopes: scopesUpTo(scopes), ...(until !== null && { expires_at: until }) };
}

interface ApiKeyFieldsProps<T extends ApiKeyForm> {
  form: Form<T>;
  /** In words of the service. */
  may: KeyScopeWords;
  /** The most that may be asked for. */
  highest?: ApiKeyScope;
}

export function ApiKeyFields<T extends ApiKeyForm>({ form: whole, may, highest = 'admin' }: ApiKeyFieldsProps<T>) {
  const form = whole as unknown as Form<ApiKeyForm>;
  const choices: Choice[] = scopesUpTo(highest).map((value) => ({ value, label: may[value] }));
  return (
    <>
      <TextField
        label={t('common.name')}
        hint={t('apiKeys.nameHint')}
        required
        autofocus
        value={form.values.name}
        problem={form.problem('name')}
        onInput={(name) => form.set('name', name)}
      />
      <SelectField
        label={t('common.permissions')}
        value={form.values.scopes}
        problem={form.problem('scopes')}
        choices={choices}
        onChange={(scope) => form.set('scopes', scope as ApiKeyScope)}
      />
      <TextField
        label={t('common.expires')}
        hint={t('apiKeys.expiresHint')}
        type="datetime-local"
        value={form.values.expires_at}
        problem={form.problem('expires_at')}
        onInput={(until) => form.set('expires_at', until)}
      />
    </>
  );
}
