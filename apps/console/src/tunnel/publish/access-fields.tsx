import { SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { CountriesField } from '../parts/countries-field.js';
import { TypeFields } from '../policies/policy-fields.js';
import { POLICY_TYPES, type PolicyForm } from '../policies/policy-form.js';
import { ACCESS_OF, type Access, type PublishKind, type RestrictionForm } from './publish-form.js';

interface PolicyChoiceProps {
  kind: PublishKind;
  access: Access;
  form: Form<PolicyForm>;
  onChange: (access: Access) => void;
}

const ACCESS: Readonly<Record<Access, string>> = {
  everyone: t('publishing.access.everyone'),
  password: t('publishing.access.password'),
  basic: t('publishing.access.basic'),
  oauth: t('publishing.access.oauth'),
};

/** Who may use the service. */
export function PolicyChoice({ kind, access, form, onChange }: PolicyChoiceProps) {
  if (kind === 'private') return <p class="muted">{t('publishing.privateAccess')}</p>;
  const hint = access !== 'everyone' ? POLICY_TYPES[access].about : kind === 'proxy' ? t('publishing.openProxy') : '';
  return (
    <>
      <SelectField
        label={t('publishing.accessField')}
        hint={hint}
        value={access}
        choices={ACCESS_OF[kind].map((value) => ({ value, label: ACCESS[value] }))}
        onChange={(value) => onChange(value as Access)}
      />
      {access !== 'everyone' && <TypeFields form={form} policy={null} />}
    </>
  );
}

const ACTIONS = (['none', 'allow', 'deny'] as const).map((value) => ({
  value,
  label: t(`publishing.restrictions.${value}`),
}));

/** From where it may be used. */
export function RestrictionFields({ form }: { form: Form<RestrictionForm> }) {
  const { action, countries, pattern } = form.values;
  return (
    <>
      <SelectField
        label={t('publishing.restriction')}
        value={action}
        choices={ACTIONS}
        onChange={(value) => form.set('action', value as RestrictionForm['action'])}
      />
      {action !== 'none' && (
        <>
          <CountriesField value={countries} onChange={(codes) => form.set('countries', codes)} />
          <TextField
            label={t('publishing.addresses')}
            hint={t('publishing.addressesHint')}
            rows={3}
            value={pattern}
            problem={form.problem('pattern')}
            onInput={(text) => form.set('pattern', text)}
          />
        </>
      )}
    </>
  );
}
