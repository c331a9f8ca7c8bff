import type { IpRuleView } from '@gatehouse/contracts';
import { CheckField, SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { countryChoices } from '../../shared/format/countries.js';
import { language } from '../../shared/messages/index.js';
import { t } from '../messages/index.js';
import { ResourceField } from '../parts/resource-field.js';
import { UserField } from '../parts/user-field.js';
import { useIsAdministrator, useUser } from '../user-context.js';
import { ListField } from './list-field.js';
import { KINDS, kindOf, SCOPES, seesRequests, type RuleForm } from './rule-form.js';

const TYPES = [
  { value: 'deny', label: t('rules.deny') },
  { value: 'allow', label: t('rules.allowOnly') },
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
        label={t('rules.action')}
        value={form.values.type}
        choices={TYPES}
        problem={form.problem('type')}
        onChange={(type) => form.set('type', type as IpRuleView['type'])}
      />
      <PatternFields form={form} />
      {seesRequests(form.values.scope) && <RequestFields form={form} />}
      {(form.code === 'SELF_LOCKOUT' || form.values.force) && (
        <CheckField
          label={t('rules.force')}
          checked={form.values.force}
          onChange={(force) => form.set('force', force)}
        />
      )}
      <div class="form-row">
        <TextField
          label={t('rules.priority')}
          hint={t('rules.priorityHint')}
          type="number"
          value={form.values.priority}
          problem={form.problem('priority')}
          onInput={(priority) => form.set('priority', priority)}
        />
        <TextField
          label={t('rules.remark')}
          hint={t('rules.remarkHint')}
          value={form.values.remark}
          problem={form.problem('remark')}
          onInput={(remark) => form.set('remark', remark)}
        />
      </div>
    </>
  );
}

/** What a rule says about requests to hosts. */
function RequestFields({ form }: { form: Form<RuleForm> }) {
  return (
    <div class="form-row">
      <TextField
        label={t('rules.paths')}
        hint={t('rules.pathsHint')}
        rows={2}
        value={form.values.paths}
        problem={form.problem('paths')}
        onInput={(paths) => form.set('paths', paths)}
      />
      <TextField
        label={t('rules.methods')}
        hint={t('rules.methodsHint')}
        value={form.values.methods}
        problem={form.problem('methods')}
        onInput={(methods) => form.set('methods', methods)}
      />
    </div>
  );
}

const COUNTRIES = countryChoices(language());

/** The code in a pattern, for the list of countries. */
function countryOf(pattern: string): string {
  const code = pattern.replace(/^!/, '').trim().toUpperCase();
  return COUNTRIES.some(({ value }) => value === code) ? code : '';
}

function PatternFields({ form }: { form: Form<RuleForm> }) {
  const choosesList = useIsAdministrator();
  const { pattern, pattern_kind: kind } = form.values;
  const setPattern = (text: string): void => form.set('pattern', text);
  return (
    <div class="form-row">
      {kind === 'list' && choosesList ? (
        <ListField value={pattern} problem={form.problem('pattern')} onChange={setPattern} />
      ) : (
        <PatternField form={form} />
      )}
      <SelectField
        label={t('rules.patternType')}
        value={kind}
        choices={Object.entries(KINDS).map(([value, { label }]) => ({ value, label }))}
        problem={form.problem('pattern_kind')}
        onChange={(value) => {
          form.set('pattern_kind', value as IpRuleView['pattern_kind']);
          // What was typed for another kind is the name of no list.
          if (value === 'list' && choosesList) setPattern('');
        }}
      />
      {kind === 'country' && (
        <SelectField
          label={t('rules.country')}
          value={countryOf(pattern)}
          choices={[{ value: '', label: t('rules.chooseCountry') }, ...COUNTRIES]}
          onChange={(code) => setPattern(pattern.startsWith('!') ? `!${code}` : code)}
        />
      )}
    </div>
  );
}

function PatternField({ form }: { form: Form<RuleForm> }) {
  const { pattern, pattern_kind: kind } = form.values;
  return (
    <TextField
      label={t('rules.pattern')}
      hint={KINDS[kind].hint}
      required
      autofocus
      value={pattern}
      problem={form.problem('pattern')}
      onInput={(text) => {
        form.set('pattern', text);
        const likely = kindOf(text);
        // The name of a list may look like anything, such as a country.
        if (likely !== null && kind !== 'list') form.set('pattern_kind', likely);
      }}
    />
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
        label={t('rules.scope')}
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
          label={t(`kinds.${scope}`)}
          value={id}
          problem={form.problem('resource_id')}
          onChange={setId}
        />
      )}
      {scope === 'user' && (
        <UserField label={t('kinds.user')} value={id} problem={form.problem('resource_id')} onChange={setId} />
      )}
    </>
  );
}
