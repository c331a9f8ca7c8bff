import { GROUP_STRATEGIES, type GroupStrategy } from '@gatehouse/contracts';
import { CheckField, SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import type { GroupForm } from './group-form.js';

export type GroupFormState = Form<GroupForm>;

type TextName = {
  [K in keyof GroupForm]: GroupForm[K] extends string ? (string extends GroupForm[K] ? K : never) : never;
}[keyof GroupForm];

function text(form: GroupFormState, name: TextName) {
  return { value: form.values[name], problem: form.problem(name), onInput: (value: string) => form.set(name, value) };
}

const TAKES = [
  { value: 'none', label: 'none' },
  { value: 'all', label: 'all' },
  { value: 'some', label: 'those that fit everything below' },
];

export function FilterFields({ form }: { form: GroupFormState }) {
  const { takes } = form.values;
  return (
    <>
      <SelectField
        label="Nodes besides the listed members"
        value={takes}
        choices={TAKES}
        onChange={(value) => form.set('takes', value as GroupForm['takes'])}
      />
      {takes === 'some' && (
        <div class="form-row">
          <TextField label="Name like" hint="A regular expression" {...text(form, 'filter')} />
          <TextField label="Countries" hint="DE, JP; ZZ: not known" {...text(form, 'countries')} />
          <TextField label="Types" hint="ss, trojan …" {...text(form, 'types')} />
          <TextField label="Tags" {...text(form, 'tags')} />
          <TextField label="Subscriptions" hint="Their numbers" {...text(form, 'subscription_ids')} />
        </div>
      )}
      {takes !== 'none' && <TextField label="Except those with a name like" {...text(form, 'exclude')} />}
      <CheckField
        label="The groups of countries are members too"
        checked={form.values.include_countries}
        onChange={(value) => form.set('include_countries', value)}
      />
      <CheckField
        label="Leave it out of the list of groups"
        checked={form.values.hidden}
        onChange={(value) => form.set('hidden', value)}
      />
    </>
  );
}

export function TestFields({ form }: { form: GroupFormState }) {
  const { type, strategy, lazy } = form.values;
  return (
    <>
      <div class="form-row">
        <TextField label="Test address" hint="Empty: as in the settings" {...text(form, 'test_url')} />
        <TextField label="Expected status" hint="204, 200-299" {...text(form, 'expected_status')} />
        <TextField label="Seconds between tests" {...text(form, 'interval_sec')} />
        {type === 'url-test' && <TextField label="Must be faster by (ms)" {...text(form, 'tolerance_ms')} />}
      </div>
      {type === 'load-balance' && (
        <SelectField
          label="Strategy"
          value={strategy}
          problem={form.problem('strategy')}
          choices={[{ value: '', label: 'default' }, ...GROUP_STRATEGIES.map((value) => ({ value, label: value }))]}
          onChange={(value) => form.set('strategy', value as '' | GroupStrategy)}
        />
      )}
      <CheckField label="Test only while it is in use" checked={lazy} onChange={(value) => form.set('lazy', value)} />
    </>
  );
}
