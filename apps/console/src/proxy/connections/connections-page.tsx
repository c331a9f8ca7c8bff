import type { ConnectionListResponse } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { PAGE_SIZES, Pager } from '../../shared/components/pager.js';
import { formatBytes, formatRate } from '../../shared/format/amounts.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { useDebounced } from '../../shared/state/use-debounced.js';
import { useResource } from '../../shared/state/use-resource.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { t } from '../messages/index.js';
import { CloseMany } from './close-many.js';
import { ConnectionTable } from './connection-table.js';

const REFRESH_MS = 1_500;

/** Every open connection, as it goes. */
export function ConnectionsPage({ query }: PageProps) {
  const api = useApi();
  const [search, setSearch] = useState(query['search'] ?? '');
  const [sort, setSort] = useState('-start');
  const [page, setPage] = useState({ limit: 50, offset: 0 });
  const [paused, setPaused] = useState(false);
  const settled = useDebounced(search.trim());
  const { data, error, reload } = useResource(
    (signal) => api.get<ConnectionListResponse>('/connections', { search: settled, sort, ...page }, signal),
    [settled, sort, page],
    paused ? {} : { everyMs: REFRESH_MS },
  );
  const find = (text: string): void => {
    setSearch(text);
    setPage({ ...page, offset: 0 });
  };
  return (
    <Page
      title={t('nav.connections')}
      actions={
        <>
          <button type="button" aria-pressed={paused} onClick={() => setPaused(!paused)}>
            {paused ? t('connections.resume') : t('connections.pause')}
          </button>
          <CloseMany search={settled} total={data?.total ?? 0} onDone={reload} />
        </>
      }
    >
      {data && <Sums list={data} />}
      <SearchBar label={t('connections.filter')} placeholder={t('connections.search')} value={search} onInput={find} />
      <Trouble error={error} retry={reload} />
      <ConnectionTable rows={data?.connections} sort={sort} onSort={setSort} reload={reload} />
      {data && (
        <Pager
          label={t('nav.connections')}
          sizes={PAGE_SIZES}
          total={data.total}
          limit={page.limit}
          offset={page.offset}
          onChange={setPage}
        />
      )}
    </Page>
  );
}

function Sums({ list }: { list: ConnectionListResponse }) {
  const { count, download_speed: down, upload_speed: up, memory_bytes: memory } = list;
  return (
    <p class="muted">
      {t('connections.sums', { count, down: formatRate(down), up: formatRate(up), memory: formatBytes(memory) })}
    </p>
  );
}
