import { PUBLICATION_HEALTH, PUBLICATION_IDENTITIES, PUBLICATION_ORDERS } from '@gatehouse/contracts';
import { CheckField, SelectField, TextField } from '../../shared/components/fields.js';
import { t } from '../messages/index.js';
import type { StepForm } from './publication-form.js';

const HEALTH = [
  { value: '', label: t('publications.anyHealth') },
  ...PUBLICATION_HEALTH.map((value) => ({ value, label: t(`publications.health.${value}`) })),
];
const ORDERS = PUBLICATION_ORDERS.map((value) => ({ value, label: t(`publications.orders.${value}`) }));
const IDENTITIES = PUBLICATION_IDENTITIES.map((value) => ({ value, label: t(`publications.identities.${value}`) }));

interface StepOptionsProps {
  step: StepForm;
  onChange: (changes: Partial<StepForm>) => void;
}

/** The fields of one kind of step. */
export function StepOptions({ step, onChange }: StepOptionsProps) {
  switch (step.do) {
    case 'keep':
    case 'drop':
      return <Conditions step={step} onChange={onChange} />;
    case 'rename':
      return (
        <>
          <TextField
            label={t('publications.pattern')}
            hint={t('publications.patternHint')}
            required
            value={step.pattern}
            onInput={(pattern) => onChange({ pattern })}
          />
          <TextField
            label={t('publications.replacement')}
            value={step.replacement}
            onInput={(replacement) => onChange({ replacement })}
          />
        </>
      );
    case 'sort':
      return (
        <>
          <SelectField
            label={t('publications.by')}
            value={step.by}
            choices={ORDERS}
            onChange={(by) => onChange({ by: by as StepForm['by'] })}
          />
          <CheckField
            label={t('publications.descending')}
            checked={step.descending}
            onChange={(descending) => onChange({ descending })}
          />
        </>
      );
    case 'dedupe':
      return (
        <SelectField
          label={t('publications.same')}
          value={step.same}
          choices={IDENTITIES}
          onChange={(same) => onChange({ same: same as StepForm['same'] })}
        />
      );
    case 'limit':
      return (
        <TextField
          label={t('publications.count')}
          type="number"
          required
          value={step.count}
          onInput={(count) => onChange({ count })}
        />
      );
  }
}

/** Of several all must hold. */
function Conditions({ step, onChange }: StepOptionsProps) {
  const text = (name: 'name' | 'types' | 'countries' | 'tags') => ({
    value: step[name],
    onInput: (value: string) => onChange({ [name]: value }),
  });
  return (
    <>
      <TextField label={t('publications.namePattern')} hint={t('publications.patternHint')} {...text('name')} />
      <TextField label={t('groups.countries')} hint={t('groups.countriesHint')} {...text('countries')} />
      <TextField label={t('groups.types')} hint="ss, trojan …" {...text('types')} />
      <TextField label={t('words.tags')} {...text('tags')} />
      <SelectField
        label={t('publications.healthLabel')}
        value={step.health}
        choices={HEALTH}
        onChange={(health) => onChange({ health: health as StepForm['health'] })}
      />
    </>
  );
}
