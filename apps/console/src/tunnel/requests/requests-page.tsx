import type { HarArchive, HostRecordLevel, HostRequestPage, HostRequestView, HostView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { plainChoices, SelectField } from '../../shared/components/fields.js';
import { Badge, Page, Trouble } from '../../shared/components/page.js';
import { saveFile } from '../../shared/components/save-file.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { FIRST_CURSOR } from '../../shared/state/cursor.js';
import { useAction } from '../../shared/state/use-action.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useDebounced } from '../../shared/state/use-debounced.js';
import { useResource } from '../../shared/state/use-resource.js';
import { nameOf } from '../hosts/host-address.js';
import { t } from '../messages/index.js';
import { useMayWrite } from '../user-context.js';
import { RequestDialog } from './request-dialog.js';
import { RequestTable } from './request-table.js';

type Filter = { host: string; q: string; method: string; status: string };

const NO_FILTER: Filter = { host: '', q: '', method: '', status: '' };
const LIVE_MS = 1_000;
const LEVELS: { value: HostRecordLevel; label: string }[] = [
  { value: 'off', label: t('requests.levels.off') },
  { value: 'requests', label: t('requests.levels.requests') },
  { value: 'full', label: t('requests.levels.full') },
];
const METHODS = [
  { value: '', label: t('requests.anyMethod') },
  ...plainChoices(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']),
];
const STATUSES = [
  { value: '', label: t('requests.anyStatus') },
  { value: 'failed', label: t('requests.failed') },
  ...plainChoices(['2xx', '3xx', '4xx', '5xx']),
];

/** The last requests of a host, as they come. */
export function RequestsPage({ query }: PageProps) {
  const api = useApi();
  const [filter, change] = useAddressFilter<Filter>(query, NO_FILTER);
  const [page, setPage] = useState(FIRST_CURSOR);
  const [opened, setOpened] = useState<HostRequestView | null>(null);
  const hostId = Number(filter.host);
  const { q, method, status } = JSON.parse(useDebounced(JSON.stringify(filter))) as Filter;
  const host = useResource((signal) => api.get<HostView>(`/hosts/${hostId}`, {}, signal), [hostId], {
    areas: ['hosts'],
  });
  const isLive = page.cursor === null;
  const { data, error, reload } = useResource(
    (signal) => {
      const asked = { q, method, status, limit: page.limit, cursor: page.cursor };
      return api.get<HostRequestPage>(`/hosts/${hostId}/requests`, asked, signal);
    },
    [hostId, q, method, status, page],
    isLive ? { everyMs: LIVE_MS } : {},
  );
  const narrow = (changes: Partial<Filter>): void => {
    change(changes);
    setPage({ ...FIRST_CURSOR, limit: page.limit });
  };
  const level = data?.record_requests;
  const changed = (): void => {
    host.reload();
    reload();
  };
  const actions = level && (
    <>
      {isLive && level !== 'off' && <Badge tone="good">{t('events.live')}</Badge>}
      <SaveHar hostId={hostId} filter={{ q, method, status }} />
    </>
  );
  const name = host.data ? nameOf(host.data) : filter.host;
  return (
    <Page title={t('requests.of', { name })} actions={actions}>
      <Recording hostId={hostId} level={level} onChanged={changed} />
      <RequestFilters filter={filter} onChange={narrow} />
      <Trouble error={error} retry={reload} />
      {data && data.silent_edges.length > 0 && (
        <p class="muted">{t('requests.silent', { names: data.silent_edges.join(', ') })}</p>
      )}
      <RequestTable
        requests={data?.items}
        empty={level === 'off' ? t('requests.emptyOff') : t('requests.empty')}
        onOpen={setOpened}
      />
      {data && (
        <CursorPager label={t('words.requests')} page={page} next={data.next_cursor} note="" onChange={setPage} />
      )}
      {opened && <RequestDialog hostId={hostId} request={opened} onClose={() => setOpened(null)} />}
    </Page>
  );
}

interface RecordingProps {
  hostId: number;
  level: HostRecordLevel | undefined;
  onChanged: () => void;
}

/** What is kept; only those who may change the host choose. */
function Recording({ hostId, level, onChanged }: RecordingProps) {
  const api = useApi();
  const { run } = useAction();
  const mayWrite = useMayWrite();
  if (level === undefined) return null;
  if (!mayWrite) return <p>{LEVELS.find(({ value }) => value === level)?.label}</p>;
  const choose = async (next: string): Promise<void> => {
    await run(() => api.patch(`/hosts/${hostId}`, { record_requests: next }));
    onChanged();
  };
  return (
    <SelectField
      label={t('requests.kept')}
      hint={t('requests.keptHint')}
      value={level}
      choices={LEVELS}
      onChange={(next) => void choose(next)}
    />
  );
}

function RequestFilters({ filter, onChange }: { filter: Filter; onChange: (changes: Partial<Filter>) => void }) {
  return (
    <SearchBar
      label={t('requests.filter')}
      placeholder={t('requests.search')}
      value={filter.q}
      onInput={(q) => onChange({ q })}
    >
      <SelectField
        label={t('requests.method')}
        hideLabel
        value={filter.method}
        choices={METHODS}
        onChange={(method) => onChange({ method })}
      />
      <SelectField
        label={t('common.status')}
        hideLabel
        value={filter.status}
        choices={STATUSES}
        onChange={(status) => onChange({ status })}
      />
    </SearchBar>
  );
}

function SaveHar({ hostId, filter }: { hostId: number; filter: Omit<Filter, 'host'> }) {
  const api = useApi();
  const { busy, run } = useAction();
  const save = (): Promise<boolean> =>
    run(async () => {
      const archive = await api.get<HarArchive>(`/hosts/${hostId}/requests/har`, { ...filter, limit: 200 });
      saveFile({ name: `host-${hostId}.har`, content: new Blob([JSON.stringify(archive, null, 2)]) });
    });
  return (
    <button type="button" disabled={busy} onClick={() => void save()}>
      {t('requests.saveHar')}
    </button>
  );
}
