import type { HostView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { SelectField } from '../../shared/components/fields.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { hrefTo } from '../../shared/state/route.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useCursorWindow } from '../../shared/state/use-cursor-window.js';
import { bold, code, linkTo } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { ClientFilter } from '../parts/client-filter.js';
import { useResourceNames } from '../parts/resource-names.js';
import { Empty } from '../parts/empty.js';
import { PublishLink } from '../parts/publish-link.js';
import { leaveRow, useNamedRow } from '../parts/use-named-row.js';
import { useMayWrite } from '../user-context.js';
import { EditHost } from './edit-host.js';
import { nameOf } from './host-address.js';
import { HostCertificate } from './host-certificate.js';
import { HostTable, type HostAction } from './host-table.js';
import { NewHost } from './new-host.js';

type Opened = { action: 'new' } | { action: HostAction; host: HostView };
type Filter = { q: string; client_id: string; status: string };

const NO_FILTER: Filter = { q: '', client_id: '', status: '' };
const STATES = [
  { value: '', label: t('words.enabledAny') },
  { value: '1', label: t('words.enabled') },
  { value: '0', label: t('words.disabled') },
];

/** Names that lead to web servers beside clients. */
export function HostsPage({ query }: PageProps) {
  const mayWrite = useMayWrite();
  const [filter, change] = useAddressFilter<Filter>(query, NO_FILTER);
  const [opened, setOpened] = useState<Opened | null>(query['new'] === '1' && mayWrite ? { action: 'new' } : null);
  useNamedRow<HostView>('/hosts', query['id'], (host) => {
    setOpened({ action: query['show'] === 'certificate' || !mayWrite ? 'certificate' : 'edit', host });
  });
  const close = (): void => {
    setOpened(null);
    leaveRow();
  };
  const list = useCursorWindow<HostView>('/hosts', filter, {
    sort: 'host',
    everyMs: 5_000,
    areas: ['hosts', 'clients', 'certificates', 'traffic'],
  });
  const nameOfClient = useResourceNames(list.seen.map((host) => ({ kind: 'client', id: host.client_id })));
  const isNarrowed = Object.values(filter).some((value) => value !== '');
  const add = (
    <button type="button" onClick={() => setOpened({ action: 'new' })}>
      {t('hosts.add')}
    </button>
  );
  const actions = mayWrite && (
    <>
      {add}
      <PublishLink kind="web" clientId={filter.client_id} />
    </>
  );
  return (
    <Page title={t('nav.hosts')} actions={actions}>
      <HostFilters filter={filter} onChange={change} />
      <Trouble error={list.error} retry={list.reload} />
      <HostTable
        list={list}
        nameOfResource={nameOfClient}
        empty={isNarrowed ? <Empty>{t('words.noMatch')}</Empty> : <Empty action={actions}>{NOTHING}</Empty>}
        onAction={(action, host) => setOpened({ action, host })}
      />
      {opened && <OpenedHost opened={opened} clientId={filter.client_id} reload={list.reload} onClose={close} />}
    </Page>
  );
}

const NOTHING = <p>{rich('hosts.empty', { b: bold, code, clients: linkTo(hrefTo('clients')) })}</p>;

function HostFilters({ filter, onChange }: { filter: Filter; onChange: (changes: Partial<Filter>) => void }) {
  return (
    <SearchBar
      label={t('hosts.filter')}
      placeholder={t('hosts.search')}
      value={filter.q}
      onInput={(q) => onChange({ q })}
    >
      <ClientFilter value={filter.client_id} onChange={(id) => onChange({ client_id: id })} />
      <SelectField
        label={t('common.enabled')}
        hideLabel
        value={filter.status}
        choices={STATES}
        onChange={(status) => onChange({ status })}
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
  if (opened.action === 'new') return <NewHost clientId={clientId} onClose={onClose} onDone={reload} />;
  const { action, host } = opened;
  if (action === 'edit') return <EditHost host={host} onClose={onClose} onDone={reload} />;
  if (action === 'certificate') return <HostCertificate host={host} onClose={onClose} onDone={reload} />;
  const name = nameOf(host);
  return (
    <RemoveDialog
      title={t('hosts.deleteTitle')}
      path={`/hosts/${host.id}`}
      name={name}
      onClose={onClose}
      onDone={reload}
    >
      <p>{rich('hosts.deleteText', { name, b: bold })}</p>
    </RemoveDialog>
  );
}
