import type { SettingsView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { ApiError, messageOf } from '../../shared/api/api-error.js';
import { SelectField, TextField } from '../../shared/components/fields.js';
import { useNotify } from '../../shared/components/notices.js';
import { Card } from '../../shared/components/page.js';
import { splitProblems } from '../../shared/state/field-problems.js';
import { focusFirstProblem } from '../../shared/state/focus-first-problem.js';
import { changedSettings, groupSettings, type SettingEntry } from './setting-catalogue.js';

const WORDS: Readonly<Record<string, string>> = { true: 'on', false: 'off' };

type Problems = ReadonlyMap<string, string>;

/** All settings at once; only what was changed is sent, and either all of it is taken or none. */
export function SettingsForm({ settings, onSaved }: { settings: SettingsView; onSaved: () => void }) {
  const [values, setValues] = useState<SettingsView>(settings);
  const { busy, error, problems, save } = useSaving(onSaved);
  const changes = changedSettings(settings, values);
  const count = Object.keys(changes).length;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        if (count > 0 && !busy) void save(changes).then(() => focusFirstProblem(form));
      }}
    >
      {groupSettings(Object.keys(settings)).map(({ title, entries }) => (
        <Card key={title} title={title}>
          {entries.map((entry) => (
            <SettingField
              key={entry.key}
              entry={entry}
              value={values[entry.key] ?? ''}
              problem={problems.get(entry.key)}
              onChange={(value) => setValues((before) => ({ ...before, [entry.key]: value }))}
            />
          ))}
        </Card>
      ))}
      {(count > 0 || error !== null) && (
        <div class="save-bar">
          <span class="form-error" role="alert">
            {error}
          </span>
          <span class="muted">{count === 1 ? '1 setting changed' : `${count} settings changed`}</span>
          <button type="button" onClick={() => setValues(settings)}>
            Undo
          </button>
          <button type="submit" class="primary" disabled={busy || count === 0}>
            Save
          </button>
        </div>
      )}
    </form>
  );
}

function useSaving(onSaved: () => void) {
  const api = useApi();
  const notify = useNotify();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [problems, setProblems] = useState<Problems>(new Map());
  const save = async (changes: Record<string, string>): Promise<void> => {
    setBusy(true);
    setError(null);
    setProblems(new Map());
    try {
      const { headers } = await api.send<SettingsView>('PUT', '/settings', { body: changes });
      const restart = headers.get('x-restart-required');
      notify(
        restart === null
          ? 'Saved, and in force.'
          : `Saved; ${restart} takes effect with the next start of the service.`,
      );
      onSaved();
    } catch (failure) {
      const details = failure instanceof ApiError ? failure.details : [];
      setProblems(splitProblems(details, Object.keys(changes)).byField);
      setError(details.length > 0 ? 'Nothing was saved: see the fields in red.' : messageOf(failure));
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, problems, save };
}

interface SettingFieldProps {
  entry: SettingEntry;
  value: string;
  problem: string | undefined;
  onChange: (value: string) => void;
}

function SettingField({ entry: { key, label, hint, choices, isLong }, value, problem, onChange }: SettingFieldProps) {
  const common = { label, hideLabel: true, value, problem };
  return (
    <div class="setting">
      <div>
        <span class="strong">{label}</span>
        <code>{key}</code>
        {hint && <span class="hint">{hint}</span>}
      </div>
      {choices ? (
        <SelectField
          {...common}
          choices={(choices.includes(value) ? choices : [value, ...choices]).map((choice) => ({
            value: choice,
            label: WORDS[choice] ?? choice,
          }))}
          onChange={onChange}
        />
      ) : (
        <TextField {...common} {...(isLong ? { rows: 2 } : {})} onInput={onChange} />
      )}
    </div>
  );
}
