import type { TrafficLogListResponse, TrafficLogView } from '@gatehouse/contracts';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Dialog } from '../../shared/components/dialog.js';
import { SelectField } from '../../shared/components/fields.js';
import { Facts, Page, Trouble } from '../../shared/components/page.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useEndlessList, type EndlessList } from '../../shared/state/use-endless-list.js';
import { NothingYet } from '../connections/nothing-yet.js';
import { t } from '../messages/index.js';
import { factsOf } from './log-facts.js';
import { LOG_RESULTS, PROBLEMS, withResult } from './log-result.js';
import { TrafficLogTable } from './traffic-log-table.js';

const NO_FILTER = { keyword: '', result: '', kernel: '' };
/** Older ones are found with a search. */
const MAX_ROWS = 50_000;
/** Rows that are there before the reader comes to them. */
const AHEAD = 100;

const RESULTS = [
  { value: '', label: t('trafficLog.anyResult') },
  { value: PROBLEMS, label: t('trafficLog.problems') },
  ...LOG_RESULTS.map((value) => ({ value, label: t(`trafficLog.results.${value}`) })),
];

const NOTHING = <NothingYet>{t('trafficLog.empty')}</NothingYet>;

type LogList = EndlessList<TrafficLogView, TrafficLogListResponse>;

/** What was carried: each connection that ended. */
export function TrafficLogsPage({ query }: PageProps) {
  const [filter, setFilter] = useAddressFilter(query, NO_FILTER);
  const [opened, setOpened] = useState<TrafficLogView | null>(null);
  const list = useEndlessList<TrafficLogView, TrafficLogListResponse>(
    '/traffic-logs',
    { keyword: filter.keyword.trim() },
    { keyOf: ({ id }) => id, everyMs: 5_000, maxRows: MAX_ROWS },
  );
  const found = useMemo(
    () => list.rows && withKernel(withResult(list.rows, filter.result), filter.kernel),
    [list.rows, filter.result, filter.kernel],
  );
  const kernels = useMemo(() => kernelsOf(list.rows ?? [], filter.kernel), [list.rows, filter.kernel]);
  const isNarrowed = Object.values(filter).some((value) => value !== '');
  const loadFurther = useLoadAhead(list, found?.length ?? 0, `${filter.keyword} ${filter.result} ${filter.kernel}`);
  return (
    <Page title={t('nav.trafficLog')}>
      <SearchBar
        label={t('trafficLog.filter')}
        placeholder={t('trafficLog.search')}
        value={filter.keyword}
        onInput={(keyword) => setFilter({ keyword })}
      >
        <SelectField
          label={t('trafficLog.result')}
          hideLabel
          value={filter.result}
          choices={RESULTS}
          onChange={(result) => setFilter({ result })}
        />
        {kernels.length > 0 && (
          <SelectField
            label={t('connections.kernel')}
            hideLabel
            value={filter.kernel}
            choices={[
              { value: '', label: t('connections.anyKernel') },
              ...kernels.map((name) => ({ value: name, label: name })),
            ]}
            onChange={(kernel) => setFilter({ kernel })}
          />
        )}
      </SearchBar>
      <Trouble error={list.error} retry={list.reload} />
      <Sums list={list} found={filter.result === '' && filter.kernel === '' ? null : (found?.length ?? 0)} />
      <TrafficLogTable
        rows={found}
        empty={list.loading ? t('common.loading') : isNarrowed ? t('common.nothingFound') : NOTHING}
        onOpen={setOpened}
        onEnd={loadFurther}
      />
      {opened && <LogDialog log={opened} onClose={() => setOpened(null)} />}
    </Page>
  );
}

/** The kernels of these rows, and the chosen one; none while there is only one. */
function kernelsOf(rows: readonly TrafficLogView[], chosen: string): string[] {
  const names = new Set(rows.flatMap(({ kernel }) => kernel ?? []));
  if (chosen !== '') names.add(chosen);
  return [...names].sort((a, b) => a.localeCompare(b));
}

function withKernel(rows: readonly TrafficLogView[], wanted: string): readonly TrafficLogView[] {
  return wanted === '' ? rows : rows.filter(({ kernel }) => kernel === wanted);
}

/** Loads until there are enough matching rows; the service cannot filter by these. @returns asks for more */
function useLoadAhead({ hasMore, loading, error, more }: LogList, found: number, filter: string): () => void {
  const [wish, setWish] = useState({ filter, rows: AHEAD });
  const wanted = wish.filter === filter ? wish.rows : AHEAD;
  useEffect(() => {
    if (found < wanted && hasMore && !loading && error === null) more();
  });
  return () => setWish({ filter, rows: found + AHEAD });
}

/** @param found rows that the filter leaves; null: all are wanted */
function Sums({ list: { rows, answer }, found }: { list: LogList; found: number | null }) {
  if (rows === undefined || answer === undefined) return null;
  const { total: count, total_exact: isExact } = answer;
  return (
    <p class="muted" role="status">
      {found === null
        ? t(isExact ? 'trafficLog.entries' : 'trafficLog.atLeast', { count })
        : t('trafficLog.found', { count: found, loaded: rows.length })}
    </p>
  );
}

function LogDialog({ log, onClose }: { log: TrafficLogView; onClose: () => void }) {
  return (
    <Dialog title={t('trafficLog.title', { host: log.host ?? log.destination_ip ?? '?' })} onClose={onClose} wide>
      <Facts facts={factsOf(log)} />
    </Dialog>
  );
}
