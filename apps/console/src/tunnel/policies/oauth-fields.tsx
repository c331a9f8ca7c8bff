import type { AuthPolicyView } from '@gatehouse/contracts';
import { SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { code } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import type { PolicyForm } from './policy-form.js';

const SERVERS = [
  { value: 'standard', label: t('policies.servers.standard') },
  { value: 'resource_sharing', label: t('policies.servers.resource_sharing') },
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
        label={t('policies.server')}
        value={form.values.server}
        choices={SERVERS}
        onChange={(server) => form.set('server', server as PolicyForm['server'])}
      />
      <TextField label={t('policies.issuer')} hint={t('policies.issuerHint')} type="url" required {...text('issuer')} />
      <div class="form-row">
        <TextField label={t('policies.clientId')} hint={t('policies.clientIdHint')} required {...text('client_id')} />
        <TextField
          label={t('policies.clientSecret')}
          hint={hadSecret ? t('policies.unchanged') : t('policies.publicClient')}
          type="password"
          autoComplete="off"
          {...text('client_secret')}
        />
      </div>
      <p class="hint">{rich('policies.redirectUri', { code })}</p>
      <TextField label={t('policies.oauthScope')} hint={t('policies.oauthScopeHint')} {...text('scope')} />
      <details open={form.values.subjects + form.values.names + form.values.emails !== ''}>
        <summary>{t('policies.allowedUsers')}</summary>
        <TextField label={t('policies.byEmail')} hint={t('policies.perLine')} rows={2} {...text('emails')} />
        <TextField label={t('policies.byName')} hint={t('policies.byNameHint')} rows={2} {...text('names')} />
        <TextField label={t('policies.bySubject')} rows={2} {...text('subjects')} />
      </details>
    </>
  );
}
