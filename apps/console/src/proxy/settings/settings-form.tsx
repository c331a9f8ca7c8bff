import type { SettingsView } from '@gatehouse/contracts';
import { useRef, useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { ApiError, messageOf } from '../../shared/api/api-error.js';
import { useNotify } from '../../shared/components/notices.js';
import { Card } from '../../shared/components/page.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { splitProblems } from '../../shared/state/field-problems.js';
import { focusFirstProblem } from '../../shared/state/focus-first-problem.js';
import { t } from '../messages/index.js';
import { changedSettings, findSettings, groupSettings } from './setting-catalogue.js';
import { SettingField } from './setting-field.js';

type Problems = ReadonlyMap<string, string>;

interface SettingsFormProps {
  settings: SettingsView;
  defaults: SettingsView;
  onSaved: () => void;
}

/** All settings at once; only what was changed is sent, and either all of it is taken or none. */
export function SettingsForm({ settings, defaults, onSaved }: SettingsFormProps) {
  const [values, setValues] = useState<SettingsView>(settings);
  const { busy, error, problems, save } = useSaving(onSaved);
  const [search, setSearch] = useState('');
  const [isOnlyOwn, setIsOnlyOwn] = useState(false);
  const changes = changedSettings(settings, values);
  // By what is saved: a setting that is reset stays in view until then.
  const own = Object.keys(changedSettings(defaults, settings));
  const groups = findSettings(groupSettings(isOnlyOwn ? own : Object.keys(settings)), search);
  const count = Object.keys(changes).length;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        const form = event.currentTarget;
        if (count > 0 && !busy) void save(changes).then(() => focusFirstProblem(form));
      }}
    >
      <SearchBar
        label={t('settingsPage.search')}
        placeholder={t('settingsPage.search')}
        value={search}
        onInput={setSearch}
      >
        <button type="button" aria-pressed={isOnlyOwn} onClick={() => setIsOnlyOwn(!isOnlyOwn)}>
          {t('settingsPage.onlyOwn', { count: own.length })}
        </button>
      </SearchBar>
      {groups.length === 0 && <p class="muted">{t('settingsPage.nothing')}</p>}
      <div class="with-index">
        <SettingsIndex titles={groups.map(({ title }) => title)} />
        <div>
          {groups.map(({ title, entries }) => (
            <Card key={title} title={title}>
              {entries.map((entry) => (
                <SettingField
                  key={entry.key}
                  entry={entry}
                  value={values[entry.key] ?? ''}
                  defaultValue={defaults[entry.key]}
                  problem={problems.get(entry.key)}
                  onChange={(value) => setValues((before) => ({ ...before, [entry.key]: value }))}
                />
              ))}
            </Card>
          ))}
        </div>
      </div>
      {(count > 0 || error !== null) && (
        <div class="save-bar">
          <span class="form-error" role="alert">
            {error}
          </span>
          <span class="muted">{t('settingsPage.changed', { count })}</span>
          <button type="button" onClick={() => setValues(settings)}>
            {t('settingsPage.undo')}
          </button>
          <button type="submit" class="primary" disabled={busy || count === 0}>
            {t('common.save')}
          </button>
        </div>
      )}
    </form>
  );
}

/** Leads to the sections of a long page. The address belongs to the pages, so these are buttons. */
function SettingsIndex({ titles }: { titles: readonly string[] }) {
  const index = useRef<HTMLElement>(null);
  const show = (title: string): void => {
    const sections = index.current?.parentElement?.querySelectorAll<HTMLElement>('.card') ?? [];
    const heading = [...sections]
      .map((section) => section.querySelector('h2'))
      .find((one) => one?.textContent === title);
    heading?.setAttribute('tabindex', '-1');
    heading?.focus({ preventScroll: true });
    heading?.scrollIntoView({ block: 'start' });
  };
  return (
    <nav class="index" aria-label={t('settingsPage.index')} ref={index}>
      <ul>
        {titles.map((title) => (
          <li key={title}>
            <button type="button" class="link" onClick={() => show(title)}>
              {title}
            </button>
          </li>
        ))}
      </ul>
    </nav>
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
      notify(restart === null ? t('settingsPage.saved') : t('settingsPage.restart', { settings: restart }));
      onSaved();
    } catch (failure) {
      const details = failure instanceof ApiError ? failure.details : [];
      setProblems(splitProblems(details, Object.keys(changes)).byField);
      setError(details.length > 0 ? t('settingsPage.refused') : messageOf(failure));
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, problems, save };
}
