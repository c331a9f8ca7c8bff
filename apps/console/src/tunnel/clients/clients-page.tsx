import type { NewTunnelClientView, TunnelClientView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { SelectField } from '../../shared/components/fields.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { Empty } from '../parts/empty.js';
import { useMayWrite } from '../user-context.js';
import type { ClientDeed } from './client-actions.js';
import { ClientDeedDialog } from './client-deeds.js';
import { ClientDialog } from './client-dialog.js';
import { ClientTable } from './client-table.js';
import { FirstSteps } from './first-steps.js';
import { NewClient } from './new-client.js';

type Opened =
  | { deed: 'new' }
  | { deed: 'created'; client: NewTunnelClientView }
  | { deed: ClientDeed | 'show'; client: TunnelClientView };

const STATES = [
  { value: '', label: 'Enabled or not' },
  { value: '1', label: 'Enabled' },
  { value: '0', label: 'Disabled' },
];

/** Machines that run an agent. */
export function ClientsPage({ query }: PageProps) {
  const mayWrite = useMayWrite();
  const [filter, setFilter] = useState({ q: '', status: '' });
  const [opened, setOpened] = useState<Opened | null>(query['new'] === '1' && mayWrite ? { deed: 'new' } : null);
  const list = useCursorList<TunnelClientView>('/clients', filter, { sort: 'name', everyMs: 3_000 });
  const isNarrowed = filter.q !== '' || filter.status !== '';
  const add = (
    <button type="button" class="primary" onClick={() => setOpened({ deed: 'new' })}>
      New client
    </button>
  );
  return (
    <Page title="Clients" actions={mayWrite && add}>
      <SearchBar
        label="Filter clients"
        placeholder="Search in names"
        value={filter.q}
        onInput={(q) => setFilter({ ...filter, q })}
      >
        <SelectField
          label="Enabled"
          hideLabel
          value={filter.status}
          choices={STATES}
          onChange={(status) => setFilter({ ...filter, status })}
        />
      </SearchBar>
      <Trouble error={list.error} retry={list.reload} />
      <ClientTable
        list={list}
        empty={isNarrowed ? 'No client is like that.' : <NoClient mayWrite={mayWrite} add={add} />}
        onOpen={(client) => setOpened({ deed: 'show', client })}
      />
      <CursorPager label="clients" order="any" note="" {...list.pager} />
      {opened && (
        <OpenedClient opened={opened} setOpened={setOpened} reload={list.reload} onClose={() => setOpened(null)} />
      )}
    </Page>
  );
}

function NoClient({ mayWrite, add }: { mayWrite: boolean; add: ComponentChildren }) {
  return (
    <Empty action={mayWrite && add}>
      <p>
        <strong>No client yet.</strong> A client is a machine that cannot be reached from outside. Make one, and run the
        one command that you get on that machine: its services can then be given ports and names here.
      </p>
    </Empty>
  );
}

interface OpenedProps {
  opened: Opened;
  setOpened: (opened: Opened) => void;
  reload: () => void;
  onClose: () => void;
}

function OpenedClient({ opened, setOpened, reload, onClose }: OpenedProps) {
  switch (opened.deed) {
    case 'new':
      return (
        <NewClient
          onClose={onClose}
          onCreated={(client) => {
            setOpened({ deed: 'created', client });
            reload();
          }}
        />
      );
    case 'created':
      return <FirstSteps client={opened.client} onClose={onClose} />;
    case 'show': {
      const { id, name } = opened.client;
      return (
        <ClientDialog id={id} name={name} onClose={onClose} onDeed={(deed, client) => setOpened({ deed, client })} />
      );
    }
    case 'edit':
    case 'rotate':
    case 'kick':
    case 'reset':
    case 'remove':
      return <ClientDeedDialog deed={opened.deed} client={opened.client} onClose={onClose} onDone={reload} />;
  }
}
