import {
  RUNTIME_LOG_LEVELS,
  RUNTIME_LOG_SOURCES,
  type RuntimeLogPage,
  type RuntimeLogView,
} from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { SelectField } from '../../shared/components/fields.js';
import { Badge, Page, Trouble, type BadgeTone } from '../../shared/components/page.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatTime } from '../../shared/format/times.js';
import { FIRST_CURSOR } from '../../shared/state/cursor.js';
import { useDebounced } from '../../shared/state/use-debounced.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';

const TONES: Record<RuntimeLogView['level'], BadgeTone> = {
  debug: 'none',
  info: 'info',
  warning: 'fair',
  error: 'bad',
};

const LEVELS = RUNTIME_LOG_LEVELS.filter((level) => level !== 'silent').map((level) => ({
  value: level,
  label: level === 'error' ? 'error' : t('runtimeLog.andAbove', { level }),
}));
const SOURCES = [
  { value: '', label: t('runtimeLog.allProcesses') },
  ...RUNTIME_LOG_SOURCES.map((value) => ({ value, label: value })),
];

const COLUMNS: readonly Column<RuntimeLogView>[] = [
  { head: t('common.time'), cell: ({ time }) => formatTime(time) },
  { head: t('runtimeLog.level'), cell: ({ level }) => <Badge tone={TONES[level]}>{level}</Badge> },
  {
    head: t('runtimeLog.process'),
    cell: ({ source, context }) => `${source}${context === null ? '' : ` · ${context}`}`,
  },
  { head: t('runtimeLog.message'), grow: true, cell: (line) => <Message line={line} /> },
];

function Message({ line: { message, fields } }: { line: RuntimeLogView }) {
  const details = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return (
    <>
      <span class="log-line">{message}</span>
      {details.length > 0 && <span class="second log-line mono">{details.join(' ')}</span>}
    </>
  );
}

interface Filter {
  level: string;
  source: string;
  search: string;
}

/** What the processes of the service said. */
export function RuntimeLogsPage() {
  const api = useApi();
  const [filter, setFilter] = useState<Filter>({ level: 'info', source: '', search: '' });
  const [page, setPage] = useState(FIRST_CURSOR);
  const settled = useDebounced(filter);
  const { data, error, reload } = useResource(
    (signal) => api.get<RuntimeLogPage>('/logs', { ...settled, limit: page.limit, cursor: page.cursor }, signal),
    [settled, page],
    page.cursor === null ? { everyMs: 2_000 } : {},
  );
  const narrow = (changes: Partial<Filter>): void => {
    setFilter({ ...filter, ...changes });
    setPage({ ...FIRST_CURSOR, limit: page.limit });
  };
  return (
    <Page title={t('nav.runtimeLog')}>
      <LogFilters filter={filter} onChange={narrow} />
      <Trouble error={error} retry={reload} />
      <Table
        caption={t('nav.runtimeLog')}
        columns={COLUMNS}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={t('common.nothingFound')}
      />
      {data && (
        <CursorPager
          label={t('nav.runtimeLog')}
          page={page}
          next={data.next_cursor}
          note={t('runtimeLog.lines', { count: data.total })}
          onChange={setPage}
        />
      )}
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
