import type { DomainView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { Badge, Page, Trouble } from '../../shared/components/page.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatTime } from '../../shared/format/times.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { Empty } from '../parts/empty.js';
import { useIsAdministrator, useMayWrite, useUser } from '../user-context.js';
import { NewDomain } from './new-domain.js';
import { ProveDomain } from './prove-domain.js';

type Deed = 'prove' | 'remove';
type Opened = { deed: 'new' } | { deed: Deed; domain: DomainView };

/** Which names belong to whom. */
export function DomainsPage() {
  const mayWrite = useMayWrite();
  const [filter, setFilter] = useState({ q: '' });
  const [opened, setOpened] = useState<Opened | null>(null);
  const list = useCursorList<DomainView>('/domains', filter, { sort: 'name' });
  const columns = useColumns(mayWrite, (deed, domain) => setOpened({ deed, domain }));
  const onClose = (): void => setOpened(null);
  const add = (
    <button type="button" class="primary" onClick={() => setOpened({ deed: 'new' })}>
      New domain
    </button>
  );
  return (
    <Page title="Domains" actions={mayWrite && add}>
      <SearchBar
        label="Filter domains"
        placeholder="Search in names"
        value={filter.q}
        onInput={(q) => setFilter({ q })}
      />
      <Trouble error={list.error} retry={list.reload} />
      <Table
        caption="Domains"
        columns={columns}
        rows={list.rows}
        rowKey={({ id }) => id}
        sort={list.sort}
        onSort={list.setSort}
        empty={filter.q === '' ? <Empty action={mayWrite && add}>{NOTHING}</Empty> : 'No domain is like that.'}
      />
      <CursorPager label="domains" order="any" note="" {...list.pager} />
      {opened?.deed === 'new' && (
        <NewDomain
          onClose={onClose}
          onCreated={(domain) => {
            setOpened(domain.status === 'pending' ? { deed: 'prove', domain } : null);
            list.reload();
          }}
        />
      )}
      {opened?.deed === 'prove' && <ProveDomain domain={opened.domain} onClose={onClose} onDone={list.reload} />}
      {opened?.deed === 'remove' && <RemoveDomain domain={opened.domain} onClose={onClose} onDone={list.reload} />}
    </Page>
  );
}

const NOTHING = (
  <p>
    <strong>No domain yet.</strong> Hosts of a name are for its owner: prove a domain of yours with a DNS record, or ask
    an administrator to assign one to you. Everything below it belongs to it.
  </p>
);

function useColumns(mayWrite: boolean, onDeed: (deed: Deed, domain: DomainView) => void): Column<DomainView>[] {
  const isAdministrator = useIsAdministrator();
  const me = useUser();
  const whose: Column<DomainView> = {
    head: 'Whose',
    cell: ({ user_id: id }) => (id === me.id ? 'yours' : `user ${id}`),
  };
  return [
    { head: 'Domain', sort: 'name', grow: true, cell: ({ name }) => <strong class="mono">{name}</strong> },
    ...(isAdministrator ? [whose] : []),
    { head: 'By', cell: ({ method }) => (method === 'dns' ? 'DNS record' : 'an administrator') },
    {
      head: 'State',
      cell: ({ status, verified_at: at }) =>
        status === 'verified' ? (
          <Badge tone="good" title={at === null ? '' : formatTime(at)}>
            verified
          </Badge>
        ) : (
          <Badge tone="info">not proven yet</Badge>
        ),
    },
    {
      head: 'Actions',
      quietHead: true,
      right: true,
      cell: (domain) =>
        mayWrite && (
          <RowActions>
            {domain.status === 'pending' && (
              <RowAction label={`Prove ${domain.name}`} onClick={() => onDeed('prove', domain)}>
                Prove …
              </RowAction>
            )}
            <RowAction label={`Delete ${domain.name}`} danger onClick={() => onDeed('remove', domain)}>
              Delete …
            </RowAction>
          </RowActions>
        ),
    },
  ];
}

interface RemoveDomainProps {
  domain: DomainView;
  onClose: () => void;
  onDone: () => void;
}

function RemoveDomain({ domain, onClose, onDone }: RemoveDomainProps) {
  const { id, name } = domain;
  return (
    <RemoveDialog title="Delete this domain?" path={`/domains/${id}`} name={name} onClose={onClose} onDone={onDone}>
      <p>
        Hosts of <strong>{name}</strong> that are there stay. New ones need the domain again.
      </p>
    </RemoveDialog>
  );
}
