import { GROUP_STRATEGIES, type GroupStrategy } from '@gatehouse/contracts';
import { CheckField, SelectField, TextField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import type { GroupForm } from './group-form.js';

export type GroupFormState = Form<GroupForm>;

type TextName = {
  [K in keyof GroupForm]: GroupForm[K] extends string ? (string extends GroupForm[K] ? K : never) : never;
}[keyof GroupForm];

function text(form: GroupFormState, name: TextName) {
  return { value: form.values[name], problem: form.problem(name), onInput: (value: string) => form.set(name, value) };
}

const TAKES = [
  { value: 'none', label: t('groups.takesChoices.none') },
  { value: 'all', label: t('groups.takesChoices.all') },
  { value: 'some', label: t('groups.takesChoices.some') },
];

export function FilterFields({ form }: { form: GroupFormState }) {
  const { takes } = form.values;
  return (
    <>
      <SelectField
        label={t('groups.takes')}
        value={takes}
        choices={TAKES}
        onChange={(value) => form.set('takes', value as GroupForm['takes'])}
      />
      {takes === 'some' && (
        <div class="form-row">
          <TextField label={t('groups.filter')} hint={t('groups.filterHint')} {...text(form, 'filter')} />
          <TextField label={t('groups.countries')} hint={t('groups.countriesHint')} {...text(form, 'countries')} />
          <TextField label={t('groups.types')} hint="ss, trojan …" {...text(form, 'types')} />
          <TextField label={t('words.tags')} {...text(form, 'tags')} />
          <TextField
            label={t('groups.subscriptionIds')}
            hint={t('groups.subscriptionIdsHint')}
            {...text(form, 'subscription_ids')}
          />
        </div>
      )}
      {takes !== 'none' && <TextField label={t('groups.exclude')} {...text(form, 'exclude')} />}
      <CheckField
        label={t('groups.includeCountries')}
        checked={form.values.include_countries}
        onChange={(value) => form.set('include_countries', value)}
      />
      <CheckField
        label={t('groups.hide')}
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
        <TextField label={t('groups.testUrl')} hint={t('groups.asSettings')} {...text(form, 'test_url')} />
        <TextField label={t('groups.expectedStatus')} hint="204, 200-299" {...text(form, 'expected_status')} />
        <TextField label={t('groups.interval')} {...text(form, 'interval_sec')} />
        {type === 'url-test' && <TextField label={t('groups.tolerance')} {...text(form, 'tolerance_ms')} />}
      </div>
      {type === 'load-balance' && (
        <SelectField
          label={t('groups.strategy')}
          value={strategy}
          problem={form.problem('strategy')}
          choices={[
            { value: '', label: t('groups.strategyDefault') },
            ...GROUP_STRATEGIES.map((value) => ({ value, label: value })),
          ]}
          onChange={(value) => form.set('strategy', value as '' | GroupStrategy)}
        />
      )}
      <CheckField label={t('groups.lazy')} checked={lazy} onChange={(value) => form.set('lazy', value)} />
    </>
  );
}
