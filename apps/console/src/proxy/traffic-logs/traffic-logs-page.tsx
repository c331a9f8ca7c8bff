import type { TrafficLogListResponse, TrafficLogView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { CursorPager, type CursorPage } from '../../shared/components/cursor-pager.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Facts, Page, Trouble } from '../../shared/components/page.js';
import { FIRST_CURSOR } from '../../shared/state/cursor.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { useDebounced } from '../../shared/state/use-debounced.js';
import { useResource } from '../../shared/state/use-resource.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { t } from '../messages/index.js';
import { factsOf } from './log-facts.js';
import { TrafficLogTable } from './traffic-log-table.js';

/** What was carried: each connection that ended. */
export function TrafficLogsPage({ query }: PageProps) {
  const api = useApi();
  const [keyword, setKeyword] = useState(query['keyword'] ?? '');
  const [page, setPage] = useState<CursorPage>(FIRST_CURSOR);
  const [opened, setOpened] = useState<TrafficLogView | null>(null);
  const settled = useDebounced(keyword.trim());
  const isFirst = page.cursor === null;
  const { data, error, reload } = useResource(
    (signal) =>
      api.get<TrafficLogListResponse>(
        '/traffic-logs',
        { keyword: settled, limit: page.limit, cursor: page.cursor },
        signal,
      ),
    [settled, page],
    isFirst ? { everyMs: 5_000 } : {},
  );
  const find = (text: string): void => {
    setKeyword(text);
    setPage({ ...FIRST_CURSOR, limit: page.limit });
  };
  return (
    <Page title={t('nav.trafficLog')}>
      <SearchBar label={t('trafficLog.filter')} placeholder={t('trafficLog.search')} value={keyword} onInput={find} />
      <Trouble error={error} retry={reload} />
      <TrafficLogTable rows={data?.items} onOpen={setOpened} />
      {data && (
        <CursorPager
          label={t('nav.trafficLog')}
          page={page}
          next={data.next_cursor}
          note={t(data.total_exact ? 'trafficLog.entries' : 'trafficLog.atLeast', { count: data.total })}
          onChange={setPage}
        />
      )}
      {opened && <LogDialog log={opened} onClose={() => setOpened(null)} />}
    </Page>
  );
}

function LogDialog({ log, onClose }: { log: TrafficLogView; onClose: () => void }) {
  return (
    <Dialog title={t('trafficLog.title', { host: log.host ?? log.destination_ip ?? '?' })} onClose={onClose} wide>
      <Facts facts={factsOf(log)} />
    </Dialog>
  );
}
