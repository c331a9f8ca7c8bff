import type { AuthPolicyView } from '@gatehouse/contracts';
import { SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import type { PolicyForm } from './policy-form.js';

const SERVERS = [
  { value: 'standard', label: 'Any with OAuth 2 or OpenID Connect' },
  { value: 'resource_sharing', label: 'resource-sharing of this platform' },
];

interface OAuthFieldsProps {
  form: Form<PolicyForm>;
  policy: AuthPolicyView | null;
}

/** The gateway's registration at an authorization server, and who may come in. */
export function OAuthFields({ form, policy }: OAuthFieldsProps) {
  const text = (name: 'issuer' | 'client_id' | 'client_secret' | 'scope' | 'subjects' | 'names' | 'emails') => ({
    value: form.values[name],
    problem: form.problem(name),
    onInput: (value: string) => form.set(name, value),
  });
  const hadSecret = policy?.oauth?.has_client_secret === true;
  return (
    <>
      {form.problem('oauth') !== undefined && (
        <p class="problem" role="alert">
          {form.problem('oauth')}
        </p>
      )}
      <SelectField
        label="Authorization server"
        value={form.values.server}
        choices={SERVERS}
        onChange={(server) => form.set('server', server as PolicyForm['server'])}
      />
      <TextField
        label="Issuer"
        hint="As the server calls itself, such as https://login.example.org"
        type="url"
        required
        {...text('issuer')}
      />
      <div class="form-row">
        <TextField label="Client id" hint="Of the gateway at that server" required {...text('client_id')} />
        <TextField
          label="Client secret"
          hint={hadSecret ? 'Empty: as before' : 'Empty: a public client'}
          type="password"
          autoComplete="off"
          {...text('client_secret')}
        />
      </div>
      <p class="hint">
        Redirect address to register there: <code>https://(host)/__gw/oauth/callback</code>
      </p>
      <TextField label="Scope" hint="Empty: what the kind of server needs" {...text('scope')} />
      <details open={form.values.subjects + form.values.names + form.values.emails !== ''}>
        <summary>Allowed users (empty: everyone who can sign in)</summary>
        <TextField label="By e-mail address" hint="A line each" rows={2} {...text('emails')} />
        <TextField label="By name" hint="Mind that people may be able to change theirs" rows={2} {...text('names')} />
        <TextField label="By id (sub)" rows={2} {...text('subjects')} />
      </details>
    </>
  );
}
