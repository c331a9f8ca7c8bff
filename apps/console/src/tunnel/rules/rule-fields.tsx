import type { IpRuleView } from '@gatehouse/contracts';
import { CheckField, SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { ResourceField } from '../parts/resource-field.js';
import { UserField } from '../parts/user-field.js';
import { useIsAdministrator, useUser } from '../user-context.js';
import { KINDS, kindOf, SCOPES, type RuleForm } from './rule-form.js';

const TYPES = [
  { value: 'deny', label: 'Deny' },
  { value: 'allow', label: 'Allow (and deny all other addresses)' },
];

interface RuleFieldsProps {
  form: Form<RuleForm>;
  /** What a rule is about stays. */
  isNew: boolean;
}

export function RuleFields({ form, isNew }: RuleFieldsProps) {
  return (
    <>
      {isNew && <ScopeFields form={form} />}
      <SelectField
        label="What to do"
        value={form.values.type}
        choices={TYPES}
        problem={form.problem('type')}
        onChange={(type) => form.set('type', type as IpRuleView['type'])}
      />
      <PatternFields form={form} />
      {(form.code === 'SELF_LOCKOUT' || form.values.force) && (
        <CheckField
          label="Do it all the same: I have another way in"
          checked={form.values.force}
          onChange={(force) => form.set('force', force)}
        />
      )}
      <div class="form-row">
        <TextField
          label="Priority"
          hint="The lower one is looked at first; at the same one, keeping out wins"
          type="number"
          value={form.values.priority}
          problem={form.problem('priority')}
          onInput={(priority) => form.set('priority', priority)}
        />
        <TextField
          label="Remark"
          hint="Why it is there"
          value={form.values.remark}
          problem={form.problem('remark')}
          onInput={(remark) => form.set('remark', remark)}
        />
      </div>
    </>
  );
}

function PatternFields({ form }: { form: Form<RuleForm> }) {
  const { pattern, pattern_kind: kind } = form.values;
  return (
    <div class="form-row">
      <TextField
        label="Addresses"
        hint={KINDS[kind].hint}
        required
        autofocus
        value={pattern}
        problem={form.problem('pattern')}
        onInput={(text) => {
          form.set('pattern', text);
          const likely = kindOf(text);
          if (likely !== null) form.set('pattern_kind', likely);
        }}
      />
      <SelectField
        label="They are"
        value={kind}
        choices={Object.entries(KINDS).map(([value, { label }]) => ({ value, label }))}
        problem={form.problem('pattern_kind')}
        onChange={(value) => form.set('pattern_kind', value as IpRuleView['pattern_kind'])}
      />
    </div>
  );
}

function ScopeFields({ form }: { form: Form<RuleForm> }) {
  const isAdministrator = useIsAdministrator();
  const me = useUser();
  const { scope, resource_id: id } = form.values;
  const scopes = (Object.keys(SCOPES) as IpRuleView['scope'][]).filter(
    (name) => isAdministrator || (name !== 'global' && name !== 'console'),
  );
  const setId = (value: string): void => form.set('resource_id', value);
  return (
    <>
      <SelectField
        label="It is about"
        value={scope}
        choices={scopes.map((value) => ({ value, label: SCOPES[value] }))}
        problem={form.problem('scope')}
        onChange={(value) => {
          form.set('scope', value as IpRuleView['scope']);
          form.set('resource_id', value === 'user' ? String(me.id) : '');
        }}
      />
      {(scope === 'client' || scope === 'tunnel' || scope === 'host') && (
        <ResourceField
          kind={scope}
          label={`Which ${scope}`}
          value={id}
          problem={form.problem('resource_id')}
          onChange={setId}
        />
      )}
      {scope === 'user' && (
        <UserField label="Which user" value={id} problem={form.problem('resource_id')} onChange={setId} />
      )}
    </>
  );
}
