import type { NewTunnelView, TunnelView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useNotify } from '../../shared/components/notices.js';
import { Page, Trouble } from '../../shared/components/page.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useCursorWindow } from '../../shared/state/use-cursor-window.js';
import { t } from '../messages/index.js';
import { PublishLink } from '../parts/publish-link.js';
import { leaveRow, useNamedRow } from '../parts/use-named-row.js';
import { useResourceNames } from '../parts/resource-names.js';
import { useMayWrite } from '../user-context.js';
import { NoTunnel } from './no-tunnel.js';
import { OpenedTunnel, type Opened } from './opened-tunnel.js';
import { nameOf } from './tunnel-name.js';
import { TunnelFilters, type TunnelFilter } from './tunnel-filters.js';
import { TunnelTable } from './tunnel-table.js';

const NO_FILTER: TunnelFilter = { q: '', client_id: '', mode: '', run_status: '' };

/** Ports, and keys, that lead to targets of clients. */
export function TunnelsPage({ query }: PageProps) {
  const mayWrite = useMayWrite();
  const notify = useNotify();
  const [filter, change] = useAddressFilter<TunnelFilter>(query, NO_FILTER);
  const [opened, setOpened] = useState<Opened | null>(query['new'] === '1' && mayWrite ? { action: 'new' } : null);
  useNamedRow<TunnelView>('/tunnels', query['id'], (tunnel) => mayWrite && setOpened({ action: 'edit', tunnel }));
  const close = (): void => {
    setOpened(null);
    leaveRow();
  };
  const list = useCursorWindow<TunnelView>(
    '/tunnels',
    { ...filter },
    { everyMs: 3_000, areas: ['tunnels', 'clients', 'traffic'] },
  );
  const nameOfClient = useResourceNames(list.seen.map((tunnel) => ({ kind: 'client', id: tunnel.client_id })));
  const isNarrowed = Object.values(filter).some((value) => value !== '');
  const add = (): void => setOpened({ action: 'new' });
  const created = (tunnel: NewTunnelView): void => {
    if (tunnel.visitor_key === null) notify(t('words.created', { name: nameOf(tunnel) }));
    setOpened(tunnel.visitor_key === null ? null : { action: 'key', tunnel });
    list.reload();
  };
  return (
    <Page title={t('nav.tunnels')} actions={mayWrite && <AddActions clientId={filter.client_id} onAdd={add} />}>
      <TunnelFilters filter={filter} onChange={change} />
      <Trouble error={list.error} retry={list.reload} />
      <TunnelTable
        list={list}
        nameOfResource={nameOfClient}
        empty={<NoTunnel isNarrowed={isNarrowed} mayWrite={mayWrite} onAdd={add} />}
        onAction={(action, tunnel) => setOpened({ action, tunnel })}
      />
      {opened && (
        <OpenedTunnel
          opened={opened}
          clientId={filter.client_id}
          onCreated={created}
          onClose={close}
          reload={list.reload}
        />
      )}
    </Page>
  );
}

function AddActions({ clientId, onAdd }: { clientId: string; onAdd: () => void }) {
  return (
    <>
      <button type="button" onClick={onAdd}>
        {t('tunnels.add')}
      </button>
      <PublishLink kind="tcp" clientId={clientId} />
    </>
  );
}
