import { SelectField, TextField } from '../../shared/components/fields.js';
import { t } from '../messages/index.js';
import { wordFor, type SettingEntry } from './setting-catalogue.js';

interface SettingFieldProps {
  entry: SettingEntry;
  value: string;
  /** Undefined: the service does not know one. */
  defaultValue: string | undefined;
  problem: string | undefined;
  onChange: (value: string) => void;
}

/** A setting with its name and its field, and the way back to its default. */
export function SettingField({ entry, value, defaultValue, problem, onChange }: SettingFieldProps) {
  const { key, label, hint, choices, isLong } = entry;
  const common = { label, hideLabel: true, value, problem };
  return (
    <div class="setting">
      <div>
        <span class="strong">{label}</span>
        <code>{key}</code>
        {hint && <span class="hint">{hint}</span>}
      </div>
      <div>
        {choices ? (
          <SelectField
            {...common}
            choices={(choices.includes(value) ? choices : [value, ...choices]).map((choice) => ({
              value: choice,
              label: wordFor(choice),
            }))}
            onChange={onChange}
          />
        ) : (
          <TextField {...common} {...(isLong ? { rows: 2 } : {})} onInput={onChange} />
        )}
        {defaultValue !== undefined && value !== defaultValue && (
          <p class="own-value">
            <span class="muted">
              {defaultValue === ''
                ? t('settingsPage.defaultEmpty')
                : t('settingsPage.default', { value: choices ? wordFor(defaultValue) : defaultValue })}
            </span>
            <button
              type="button"
              class="link"
              aria-label={t('settingsPage.resetName', { name: label })}
              onClick={() => onChange(defaultValue)}
            >
              {t('settingsPage.reset')}
            </button>
          </p>
        )}
      </div>
    </div>
  );
}
