import { SelectField } from '../../shared/components/fields.js';
import { countryChoices } from '../../shared/format/countries.js';
import { language } from '../../shared/messages/index.js';
import { t } from '../messages/index.js';

const COUNTRIES = countryChoices(language());
const NAMES = new Map(COUNTRIES.map(({ value, label }) => [value, label]));

interface CountriesFieldProps {
  /** Codes of ISO 3166-1. */
  value: readonly string[];
  onChange: (codes: readonly string[]) => void;
}

/** Several countries by their names. */
export function CountriesField({ value, onChange }: CountriesFieldProps) {
  const rest = COUNTRIES.filter((country) => !value.includes(country.value));
  return (
    <>
      <SelectField
        label={t('publishing.countries')}
        value=""
        choices={[{ value: '', label: t('rules.chooseCountry') }, ...rest]}
        onChange={(code) => code !== '' && onChange([...value, code])}
      />
      {value.length > 0 && (
        <ul class="chips">
          {value.map((code) => {
            const name = NAMES.get(code) ?? code;
            return (
              <li key={code}>
                {name}
                <button
                  type="button"
                  class="quiet"
                  aria-label={t('publishing.removeCountry', { name })}
                  onClick={() => onChange(value.filter((other) => other !== code))}
                >
                  ×
                </button>
              </li>
            );
          })}
        </ul>
      )}
    </>
  );
}
