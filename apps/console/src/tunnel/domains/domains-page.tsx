import type { DomainView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { Badge, Page, Trouble } from '../../shared/components/page.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatTime } from '../../shared/format/times.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { Empty } from '../parts/empty.js';
import { useOwners } from '../parts/use-owners.js';
import { useIsAdministrator, useMayWrite } from '../user-context.js';
import { NewDomain } from './new-domain.js';
import { ProveDomain } from './prove-domain.js';

type Action = 'prove' | 'remove';
type Opened = { action: 'new' } | { action: Action; domain: DomainView };

/** Which names belong to whom. */
export function DomainsPage({ query }: PageProps) {
  const mayWrite = useMayWrite();
  const [filter, change] = useAddressFilter(query, { q: '' });
  const [opened, setOpened] = useState<Opened | null>(null);
  const list = useCursorList<DomainView>('/domains', filter, { sort: 'name' });
  const columns = useColumns(list.rows ?? [], mayWrite, (action, domain) => setOpened({ action, domain }));
  const onClose = (): void => setOpened(null);
  const add = (
    <button type="button" class="primary" onClick={() => setOpened({ action: 'new' })}>
      {t('domains.add')}
    </button>
  );
  return (
    <Page title={t('nav.domains')} actions={mayWrite && add}>
      <SearchBar
        label={t('domains.filter')}
        placeholder={t('words.searchNames')}
        value={filter.q}
        onInput={(q) => change({ q })}
      />
      <Trouble error={list.error} retry={list.reload} />
      <Table
        caption={t('nav.domains')}
        columns={columns}
        rows={list.rows}
        rowKey={({ id }) => id}
        sort={list.sort}
        onSort={list.setSort}
        empty={filter.q === '' ? <Empty action={mayWrite && add}>{NOTHING}</Empty> : t('words.noMatch')}
      />
      <CursorPager label={t('nav.domains')} order="any" note="" {...list.pager} />
      {opened?.action === 'new' && (
        <NewDomain
          onClose={onClose}
          onCreated={(domain) => {
            setOpened(domain.status === 'pending' ? { action: 'prove', domain } : null);
            list.reload();
          }}
        />
      )}
      {opened?.action === 'prove' && <ProveDomain domain={opened.domain} onClose={onClose} onDone={list.reload} />}
      {opened?.action === 'remove' && <RemoveDomain domain={opened.domain} onClose={onClose} onDone={list.reload} />}
    </Page>
  );
}

const NOTHING = <p>{rich('domains.empty', { b: bold })}</p>;

function useColumns(
  rows: readonly DomainView[],
  mayWrite: boolean,
  onAction: (action: Action, domain: DomainView) => void,
): Column<DomainView>[] {
  const isAdministrator = useIsAdministrator();
  const ownerOf = useOwners(rows);
  const whose: Column<DomainView> = { head: t('words.owner'), cell: ({ user_id: id }) => ownerOf(id) };
  return [
    { head: t('domains.domain'), sort: 'name', grow: true, cell: ({ name }) => <strong class="mono">{name}</strong> },
    ...(isAdministrator ? [whose] : []),
    {
      head: t('domains.method'),
      cell: ({ method }) => (method === 'dns' ? t('domains.methods.dns') : t('domains.methods.admin')),
    },
    {
      head: t('words.state'),
      cell: ({ status, verified_at: at }) =>
        status === 'verified' ? (
          <Badge tone="good" title={at === null ? '' : formatTime(at)}>
            {t('domains.verified')}
          </Badge>
        ) : (
          <Badge tone="info">{t('domains.pending')}</Badge>
        ),
    },
    {
      head: t('words.actions'),
      quietHead: true,
      right: true,
      cell: (domain) =>
        mayWrite && (
          <RowActions>
            {domain.status === 'pending' && (
              <RowAction
                label={t('domains.verifyName', { name: domain.name })}
                onClick={() => onAction('prove', domain)}
              >
                {t('domains.verifyMore')}
              </RowAction>
            )}
            <RowAction
              label={t('words.deleteName', { name: domain.name })}
              danger
              onClick={() => onAction('remove', domain)}
            >
              {t('common.deleteMore')}
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
    <RemoveDialog
      title={t('domains.deleteTitle')}
      path={`/domains/${id}`}
      name={name}
      onClose={onClose}
      onDone={onDone}
    >
      <p>{rich('domains.deleteText', { name, b: bold })}</p>
    </RemoveDialog>
  );
}
