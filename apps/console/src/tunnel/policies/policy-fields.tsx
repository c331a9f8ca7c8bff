import type { AuthPolicyView } from '@gatehouse/contracts';
import { CheckField, SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { ResourceField } from '../parts/resource-field.js';
import { useIsAdministrator } from '../user-context.js';
import { OAuthFields } from './oauth-fields.js';
import { POLICY_TYPES, type PolicyForm } from './policy-form.js';

const RESOURCES = [
  { value: 'host', label: t('policies.places.host') },
  { value: 'tunnel', label: t('policies.places.tunnel') },
  { value: 'client', label: t('policies.places.client') },
];

interface PolicyFieldsProps {
  form: Form<PolicyForm>;
  /** Null: a new one. */
  policy: AuthPolicyView | null;
}

/** What the type needs, and nothing else. */
export function PolicyFields({ form, policy }: PolicyFieldsProps) {
  return (
    <>
      {policy === null && <PlaceFields form={form} />}
      <TypeFields form={form} policy={policy} />
      <TextField
        label={t('policies.ttlField')}
        hint={t('policies.ttlHint')}
        type="number"
        value={form.values.ttl_seconds}
        problem={form.problem('ttl_seconds')}
        onInput={(ttl) => form.set('ttl_seconds', ttl)}
      />
    </>
  );
}

/** What a visitor has to show. */
export function TypeFields({ form, policy }: PolicyFieldsProps) {
  const { type } = form.values;
  return (
    <>
      {type === 'password' && <PasswordField form={form} isNew={policy === null} />}
      {type === 'basic' && <UsersField form={form} policy={policy} />}
      {type === 'callback' && <CallbackFields form={form} />}
      {type === 'oauth' && <OAuthFields form={form} policy={policy} />}
      {(type === 'callback' || type === 'oauth') && <PrivateField form={form} />}
    </>
  );
}

function PlaceFields({ form }: { form: Form<PolicyForm> }) {
  const { resource_type: kind, resource_id: id, type } = form.values;
  return (
    <>
      <SelectField
        label={t('policies.resource')}
        value={kind}
        choices={RESOURCES}
        problem={form.problem('resource_type')}
        onChange={(value) => {
          form.set('resource_type', value as AuthPolicyView['resource_type']);
          form.set('resource_id', '');
        }}
      />
      <ResourceField
        kind={kind}
        label={t(`kinds.${kind}`)}
        value={id}
        problem={form.problem('resource_id')}
        onChange={(value) => form.set('resource_id', value)}
      />
      <SelectField
        label={t('policies.authentication')}
        hint={POLICY_TYPES[type].about}
        value={type}
        choices={Object.entries(POLICY_TYPES).map(([value, { label }]) => ({ value, label }))}
        problem={form.problem('type')}
        onChange={(value) => form.set('type', value as AuthPolicyView['type'])}
      />
    </>
  );
}

function PasswordField({ form, isNew }: { form: Form<PolicyForm>; isNew: boolean }) {
  return (
    <TextField
      label={isNew ? t('policies.visitorPassword') : t('policies.newPassword')}
      hint={isNew ? t('policies.visitorPasswordHint') : t('policies.unchanged')}
      type="password"
      autoComplete="new-password"
      required={isNew}
      value={form.values.password}
      problem={form.problem('password')}
      onInput={(password) => form.set('password', password)}
    />
  );
}

function UsersField({ form, policy }: PolicyFieldsProps) {
  return (
    <TextField
      label={t('policies.users')}
      hint={policy === null ? t('policies.usersHint') : t('policies.usersNow', { users: policy.users.join(', ') })}
      rows={4}
      required={policy === null}
      value={form.values.users}
      problem={form.problem('users')}
      onInput={(users) => form.set('users', users)}
    />
  );
}

function CallbackFields({ form }: { form: Form<PolicyForm> }) {
  return (
    <>
      <TextField
        label={t('policies.callbackUrl')}
        hint={t('policies.callbackHint')}
        type="url"
        placeholder="https://auth.example.org/verify"
        required
        value={form.values.callback_url}
        problem={form.problem('callback_url')}
        onInput={(url) => form.set('callback_url', url)}
      />
      <TextField
        label={t('policies.copyHeaders')}
        hint={t('policies.copyHeadersHint')}
        value={form.values.copy_headers}
        problem={form.problem('copy_headers')}
        onInput={(names) => form.set('copy_headers', names)}
      />
    </>
  );
}

function PrivateField({ form }: { form: Form<PolicyForm> }) {
  if (!useIsAdministrator()) return null;
  return (
    <CheckField
      label={t('policies.allowPrivate')}
      hint={t('policies.allowPrivateHint')}
      checked={form.values.allow_private}
      problem={form.problem('allow_private')}
      onChange={(allow) => form.set('allow_private', allow)}
    />
  );
}
