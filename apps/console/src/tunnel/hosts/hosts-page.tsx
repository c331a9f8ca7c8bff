import type { HostView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { SelectField } from '../../shared/components/fields.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { hrefTo } from '../../shared/state/route.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { ClientFilter } from '../parts/client-filter.js';
import { useResourceNames } from '../parts/resource-names.js';
import { Empty } from '../parts/empty.js';
import { useMayWrite } from '../user-context.js';
import { EditHost } from './edit-host.js';
import { nameOf } from './host-address.js';
import { HostCertificate } from './host-certificate.js';
import { HostTable, type HostDeed } from './host-table.js';
import { NewHost } from './new-host.js';

type Opened = { deed: 'new' } | { deed: HostDeed; host: HostView };
type Filter = { q: string; client_id: string; status: string };

const STATES = [
  { value: '', label: 'Enabled or not' },
  { value: '1', label: 'Enabled' },
  { value: '0', label: 'Disabled' },
];

/** Names that lead to web servers beside clients. */
export function HostsPage({ query }: PageProps) {
  const mayWrite = useMayWrite();
  const [filter, setFilter] = useState<Filter>({ q: '', client_id: query['client_id'] ?? '', status: '' });
  const [opened, setOpened] = useState<Opened | null>(query['new'] === '1' && mayWrite ? { deed: 'new' } : null);
  const list = useCursorList<HostView>('/hosts', filter, { sort: 'host', everyMs: 5_000 });
  const nameOfClient = useResourceNames(list.rows?.map((host) => ({ kind: 'client', id: host.client_id })) ?? []);
  const isNarrowed = Object.values(filter).some((value) => value !== '');
  const add = (
    <button type="button" class="primary" onClick={() => setOpened({ deed: 'new' })}>
      New host
    </button>
  );
  return (
    <Page title="Hosts" actions={mayWrite && add}>
      <HostFilters filter={filter} onChange={setFilter} />
      <Trouble error={list.error} retry={list.reload} />
      <HostTable
        list={list}
        nameOfResource={nameOfClient}
        empty={isNarrowed ? <Empty>No host is like that.</Empty> : <Empty action={mayWrite && add}>{NOTHING}</Empty>}
        onDeed={(deed, host) => setOpened({ deed, host })}
      />
      <CursorPager label="hosts" order="any" note="" {...list.pager} />
      {opened && (
        <OpenedHost opened={opened} clientId={filter.client_id} reload={list.reload} onClose={() => setOpened(null)} />
      )}
    </Page>
  );
}

const NOTHING = (
  <p>
    <strong>No host yet.</strong> A host is a name such as <code>app.example.org</code> that leads to a web server
    beside one of your <a href={hrefTo('clients')}>clients</a>. Let the name lead to this gateway in the DNS, then add
    it here.
  </p>
);

function HostFilters({ filter, onChange }: { filter: Filter; onChange: (filter: Filter) => void }) {
  return (
    <SearchBar
      label="Filter hosts"
      placeholder="Search in names, paths and targets"
      value={filter.q}
      onInput={(q) => onChange({ ...filter, q })}
    >
      <ClientFilter value={filter.client_id} onChange={(id) => onChange({ ...filter, client_id: id })} />
      <SelectField
        label="Enabled"
        hideLabel
        value={filter.status}
        choices={STATES}
        onChange={(status) => onChange({ ...filter, status })}
      />
    </SearchBar>
  );
}

interface OpenedHostProps {
  opened: Opened;
  clientId: string;
  reload: () => void;
  onClose: () => void;
}

function OpenedHost({ opened, clientId, reload, onClose }: OpenedHostProps) {
  if (opened.deed === 'new') return <NewHost clientId={clientId} onClose={onClose} onDone={reload} />;
  const { deed, host } = opened;
  if (deed === 'edit') return <EditHost host={host} onClose={onClose} onDone={reload} />;
  if (deed === 'certificate') return <HostCertificate host={host} onClose={onClose} onDone={reload} />;
  const name = nameOf(host);
  return (
    <RemoveDialog title="Delete this host?" path={`/hosts/${host.id}`} name={name} onClose={onClose} onDone={reload}>
      <p>
        <strong>{name}</strong> goes with its rules, policies and certificate. Its visitors get 404 from now on.
      </p>
    </RemoveDialog>
  );
}
