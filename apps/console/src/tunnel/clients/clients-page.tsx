import type { NewTunnelClientView, TunnelClientView } from '@gatehouse/contracts';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { SelectField } from '../../shared/components/fields.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { hrefTo } from '../../shared/state/route.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useCursorWindow } from '../../shared/state/use-cursor-window.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { Empty } from '../parts/empty.js';
import { leaveRow, nameRow, useNamedRow } from '../parts/use-named-row.js';
import { useMayWrite } from '../user-context.js';
import type { ClientAction } from './client-actions.js';
import { ClientActionDialog } from './client-dialogs.js';
import { ClientDialog } from './client-dialog.js';
import { ClientTable } from './client-table.js';
import { FirstSteps } from './first-steps.js';
import { NewClient } from './new-client.js';

type Opened =
  | { action: 'new' }
  | { action: 'created'; client: NewTunnelClientView }
  | { action: ClientAction | 'show'; client: TunnelClientView };

const NO_FILTER = { q: '', status: '' };
const STATES = [
  { value: '', label: t('words.enabledAny') },
  { value: '1', label: t('words.enabled') },
  { value: '0', label: t('words.disabled') },
];

/** Machines that run an agent. */
export function ClientsPage({ query }: PageProps) {
  const mayWrite = useMayWrite();
  const [filter, change] = useAddressFilter(query, NO_FILTER);
  const [opened, setOpened] = useState<Opened | null>(query['new'] === '1' && mayWrite ? { action: 'new' } : null);
  useNamedRow<TunnelClientView>('/clients', query['id'], (client) => setOpened({ action: 'show', client }));
  const close = (): void => {
    setOpened(null);
    leaveRow();
  };
  const list = useCursorWindow<TunnelClientView>('/clients', filter, {
    sort: 'name',
    everyMs: 3_000,
    areas: ['clients', 'tunnels', 'hosts', 'traffic'],
  });
  const isNarrowed = filter.q !== '' || filter.status !== '';
  const add = (
    <button type="button" class="primary" onClick={() => setOpened({ action: 'new' })}>
      {t('clients.add')}
    </button>
  );
  return (
    <Page title={t('nav.clients')} actions={mayWrite && add}>
      <SearchBar
        label={t('clients.filter')}
        placeholder={t('words.searchNames')}
        value={filter.q}
        onInput={(q) => change({ q })}
      >
        <SelectField
          label={t('common.enabled')}
          hideLabel
          value={filter.status}
          choices={STATES}
          onChange={(status) => change({ status })}
        />
      </SearchBar>
      <Trouble error={list.error} retry={list.reload} />
      <ClientTable
        list={list}
        empty={isNarrowed ? t('words.noMatch') : <NoClient mayWrite={mayWrite} add={add} />}
        onOpen={(client) => {
          setOpened({ action: 'show', client });
          nameRow(client.id);
        }}
      />
      {opened && <OpenedClient opened={opened} setOpened={setOpened} reload={list.reload} onClose={close} />}
    </Page>
  );
}

function NoClient({ mayWrite, add }: { mayWrite: boolean; add: ComponentChildren }) {
  return (
    <Empty action={mayWrite && add}>
      <p>{rich('clients.empty', { b: bold })}</p>
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
  switch (opened.action) {
    case 'new':
      return (
        <NewClient
          onClose={onClose}
          onCreated={(client) => {
            setOpened({ action: 'created', client });
            reload();
          }}
        />
      );
    case 'created':
      return (
        <FirstSteps
          client={opened.client}
          next={hrefTo('publish', { client_id: opened.client.id })}
          onClose={onClose}
        />
      );
    case 'show': {
      const { id, name } = opened.client;
      return (
        <ClientDialog
          id={id}
          name={name}
          onClose={onClose}
          onAction={(action, client) => setOpened({ action, client })}
        />
      );
    }
    case 'edit':
    case 'rotate':
    case 'kick':
    case 'reset':
    case 'remove':
      return <ClientActionDialog action={opened.action} client={opened.client} onClose={onClose} onDone={reload} />;
  }
}
