import {
  RUNTIME_LOG_LEVELS,
  RUNTIME_LOG_SOURCES,
  type RuntimeLogPage,
  type RuntimeLogView,
} from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { SelectField } from '../../shared/components/fields.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useEndlessList } from '../../shared/state/use-endless-list.js';
import { t } from '../messages/index.js';
import { LogLineDialog } from './log-line-dialog.js';
import { levelName } from './log-line.js';
import { RuntimeLogTable } from './runtime-log-table.js';

/** Older ones are found with a search. */
const MAX_ROWS = 50_000;
const NO_FILTER = { level: 'info', source: '', search: '' };
type Filter = typeof NO_FILTER;

const LEVELS = RUNTIME_LOG_LEVELS.filter((level) => level !== 'silent').map((level) => ({
  value: level,
  label: level === 'error' ? levelName(level) : t('runtimeLog.andAbove', { level: levelName(level) }),
}));
const SOURCES = [
  { value: '', label: t('runtimeLog.allProcesses') },
  ...RUNTIME_LOG_SOURCES.map((value) => ({ value, label: value })),
];

/** What the processes of the service said. */
export function RuntimeLogsPage({ query }: PageProps) {
  const [filter, change] = useAddressFilter(query, NO_FILTER);
  const [opened, setOpened] = useState<RuntimeLogView | null>(null);
  const list = useEndlessList<RuntimeLogView, RuntimeLogPage>('/logs', filter, {
    keyOf: ({ id }) => id,
    everyMs: 2_000,
    maxRows: MAX_ROWS,
  });
  return (
    <Page title={t('nav.runtimeLog')}>
      <LogFilters filter={filter} onChange={change} />
      <Trouble error={list.error} retry={list.reload} />
      {list.answer && (
        <p class="muted" role="status">
          {t('runtimeLog.lines', { count: list.answer.total })}
        </p>
      )}
      <RuntimeLogTable
        rows={list.rows}
        empty={list.loading ? t('common.loading') : t('common.nothingFound')}
        onOpen={setOpened}
        onEnd={list.more}
      />
      {opened && <LogLineDialog line={opened} onClose={() => setOpened(null)} />}
    </Page>
  );
}

function LogFilters({ filter, onChange }: { filter: Filter; onChange: (changes: Partial<Filter>) => void }) {
  return (
    <SearchBar
      label={t('runtimeLog.filter')}
      placeholder={t('runtimeLog.search')}
      value={filter.search}
      onInput={(search) => onChange({ search })}
    >
      <SelectField
        label={t('runtimeLog.level')}
        hideLabel
        value={filter.level}
        choices={LEVELS}
        onChange={(level) => onChange({ level })}
      />
      <SelectField
        label={t('runtimeLog.process')}
        hideLabel
        value={filter.source}
        choices={SOURCES}
        onChange={(source) => onChange({ source })}
      />
    </SearchBar>
  );
}
