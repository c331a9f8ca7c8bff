import { SelectField } from '../../shared/components/fields.js';
import { countryChoices } from '../../shared/format/countries.js';
import { language } from '../../shared/messages/index.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import type { PublishForm } from './publish-form.js';

const COUNTRIES = countryChoices(language());
const MODES = (['any', 'only', 'except'] as const).map((value) => ({
  value,
  label: t(`publish.countryChoices.${value}`),
}));

/** From which countries visitors may come. */
export function CountryFields({ form }: { form: Form<PublishForm> }) {
  const { countries, pattern } = form.values;
  const left = COUNTRIES.filter(({ value }) => !pattern.includes(value));
  return (
    <>
      <div class="form-row">
        <SelectField
          label={t('publish.countries')}
          value={countries}
          choices={MODES}
          problem={form.problem('pattern')}
          onChange={(value) => form.set('countries', value as PublishForm['countries'])}
        />
        {countries !== 'any' && (
          <SelectField
            label={t('publish.addCountry')}
            value=""
            choices={[{ value: '', label: t('rules.chooseCountry') }, ...left]}
            onChange={(code) => form.set('pattern', [...pattern, code])}
          />
        )}
      </div>
      {countries !== 'any' && pattern.length > 0 && (
        <p class="chips">
          {pattern.map((code) => (
            <button
              key={code}
              type="button"
              class="small"
              aria-label={t('publish.removeCountry', { name: nameOf(code) })}
              onClick={() =>
                form.set(
                  'pattern',
                  pattern.filter((other) => other !== code),
                )
              }
            >
              {nameOf(code)} <span aria-hidden="true">×</span>
            </button>
          ))}
        </p>
      )}
    </>
  );
}

function nameOf(code: string): string {
  return COUNTRIES.find(({ value }) => value === code)?.label ?? code;
}
