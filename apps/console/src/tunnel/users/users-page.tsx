import type { TunnelUserView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { SelectField } from '../../shared/components/fields.js';
import { Badge, Page, Trouble } from '../../shared/components/page.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatTime } from '../../shared/format/times.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { t } from '../messages/index.js';
import { quotaText, UsedUp } from '../parts/quota-fields.js';
import { StatusSwitch } from '../parts/status-switch.js';
import { useUser } from '../user-context.js';
import { EditUser, NewUser } from './edit-user.js';
import { RemoveUser } from './remove-user.js';
import { ROLES } from './user-form.js';

type Action = 'edit' | 'remove';
type Opened = { action: 'new' } | { action: Action; user: TunnelUserView };

const NO_FILTER = { q: '', role: '' };
const ROLE_CHOICES = [
  { value: '', label: t('users.allRoles') },
  ...Object.entries(ROLES).map(([value, { label }]) => ({ value, label })),
];

/** Who signs in here. */
export function UsersPage({ query }: PageProps) {
  const me = useUser();
  const [filter, change] = useAddressFilter(query, NO_FILTER);
  const [opened, setOpened] = useState<Opened | null>(null);
  const list = useCursorList<TunnelUserView>('/users', filter, { sort: 'username' });
  const onClose = (): void => setOpened(null);
  return (
    <Page
      title={t('nav.users')}
      actions={
        <button type="button" class="primary" onClick={() => setOpened({ action: 'new' })}>
          {t('users.add')}
        </button>
      }
    >
      <SearchBar
        label={t('users.filter')}
        placeholder={t('words.searchNames')}
        value={filter.q}
        onInput={(q) => change({ q })}
      >
        <SelectField
          label={t('users.role')}
          hideLabel
          value={filter.role}
          choices={ROLE_CHOICES}
          onChange={(role) => change({ role })}
        />
      </SearchBar>
      <Trouble error={list.error} retry={list.reload} />
      <Table
        caption={t('nav.users')}
        columns={columnsFor(me.id, list.reload, (action, user) => setOpened({ action, user }))}
        rows={list.rows}
        rowKey={({ id }) => id}
        rowClass={({ status }) => (status === 1 ? '' : 'faint')}
        sort={list.sort}
        onSort={list.setSort}
        empty={t('words.noMatch')}
      />
      <CursorPager label={t('nav.users')} order="any" note="" {...list.pager} />
      {opened?.action === 'new' && <NewUser onClose={onClose} onDone={list.reload} />}
      {opened?.action === 'edit' && <EditUser user={opened.user} onClose={onClose} onDone={list.reload} />}
      {opened?.action === 'remove' && <RemoveUser user={opened.user} onClose={onClose} onDone={list.reload} />}
    </Page>
  );
}

function columnsFor(
  ownId: number,
  reload: () => void,
  onAction: (action: Action, user: TunnelUserView) => void,
): Column<TunnelUserView>[] {
  return [
    {
      head: t('common.enabled'),
      quietHead: true,
      cell: ({ id, username, status }) =>
        id !== ownId && (
          <StatusSwitch
            path={`/users/${id}`}
            label={t('words.enabledName', { name: username })}
            value={status}
            reload={reload}
          />
        ),
    },
    {
      head: t('signIn.username'),
      sort: 'username',
      grow: true,
      cell: ({ id, username }) => (
        <>
          <strong>{username}</strong> {id === ownId && <Badge tone="info">{t('words.you')}</Badge>}
        </>
      ),
    },
    { head: t('users.role'), cell: ({ role }) => <span title={ROLES[role].about}>{ROLES[role].label}</span> },
    {
      head: t('users.twoFactor'),
      cell: ({ totp }) =>
        totp ? <Badge tone="good">{t('users.on')}</Badge> : <span class="muted">{t('users.off')}</span>,
    },
    {
      head: t('words.traffic'),
      cell: (user) =>
        user.traffic_quota === 0 ? (
          <span class="muted">{t('words.unlimited')}</span>
        ) : (
          <>
            {quotaText(user)} <UsedUp view={user} />
          </>
        ),
    },
    { head: t('common.created'), sort: 'created_at', cell: ({ created_at: at }) => formatTime(at) },
    {
      head: t('words.actions'),
      quietHead: true,
      right: true,
      cell: (user) => (
        <RowActions>
          <RowAction label={t('words.editName', { name: user.username })} onClick={() => onAction('edit', user)}>
            {t('common.edit')}
          </RowAction>
          {user.id !== ownId && (
            <RowAction
              label={t('words.deleteName', { name: user.username })}
              danger
              onClick={() => onAction('remove', user)}
            >
              {t('common.deleteMore')}
            </RowAction>
          )}
        </RowActions>
      ),
    },
  ];
}
