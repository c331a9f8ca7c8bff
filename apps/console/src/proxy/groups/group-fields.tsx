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
  { value: 'none', label: 'only the listed ones' },
  { value: 'all', label: 'all nodes besides' },
  { value: 'some', label: 'the nodes besides that …' },
];

export function FilterFields({ form }: { form: GroupFormState }) {
  const { takes } = form.values;
  return (
    <>
      <SelectField
        label="Members"
        value={takes}
        choices={TAKES}
        onChange={(value) => form.set('takes', value as GroupForm['takes'])}
      />
      {takes === 'some' && (
        <div class="form-row">
          <TextField label="have a name like" hint="A regular expression" {...text(form, 'filter')} />
          <TextField label="are in the countries" hint="DE, JP; ZZ: not known" {...text(form, 'countries')} />
          <TextField label="are of the types" hint="ss, trojan …" {...text(form, 'types')} />
          <TextField label="carry a tag of" {...text(form, 'tags')} />
          <TextField label="come from subscriptions" hint="Their numbers" {...text(form, 'subscription_ids')} />
        </div>
      )}
      {takes !== 'none' && <TextField label="but not those with a name like" {...text(form, 'exclude')} />}
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
