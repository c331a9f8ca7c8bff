import type { TunnelUserView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { SelectField } from '../../shared/components/fields.js';
import { Badge, Page, Trouble } from '../../shared/components/page.js';
import { RowAction, RowActions } from '../../shared/components/row-actions.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatTime } from '../../shared/format/times.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { StatusSwitch } from '../parts/status-switch.js';
import { useUser } from '../user-context.js';
import { EditUser, NewUser } from './edit-user.js';
import { RemoveUser } from './remove-user.js';
import { ROLES } from './user-form.js';

type Deed = 'edit' | 'remove';
type Opened = { deed: 'new' } | { deed: Deed; user: TunnelUserView };

const ROLE_CHOICES = [
  { value: '', label: 'All roles' },
  ...Object.entries(ROLES).map(([value, { label }]) => ({ value, label })),
];

/** Who signs in here. */
export function UsersPage() {
  const me = useUser();
  const [filter, setFilter] = useState({ q: '', role: '' });
  const [opened, setOpened] = useState<Opened | null>(null);
  const list = useCursorList<TunnelUserView>('/users', filter, { sort: 'username' });
  const onClose = (): void => setOpened(null);
  return (
    <Page
      title="Users"
      actions={
        <button type="button" class="primary" onClick={() => setOpened({ deed: 'new' })}>
          New user
        </button>
      }
    >
      <SearchBar
        label="Filter users"
        placeholder="Search in names"
        value={filter.q}
        onInput={(q) => setFilter({ ...filter, q })}
      >
        <SelectField
          label="Role"
          hideLabel
          value={filter.role}
          choices={ROLE_CHOICES}
          onChange={(role) => setFilter({ ...filter, role })}
        />
      </SearchBar>
      <Trouble error={list.error} retry={list.reload} />
      <Table
        caption="Users"
        columns={columnsFor(me.id, list.reload, (deed, user) => setOpened({ deed, user }))}
        rows={list.rows}
        rowKey={({ id }) => id}
        rowClass={({ status }) => (status === 1 ? '' : 'faint')}
        sort={list.sort}
        onSort={list.setSort}
        empty="No user is like that."
      />
      <CursorPager label="users" order="any" note="" {...list.pager} />
      {opened?.deed === 'new' && <NewUser onClose={onClose} onDone={list.reload} />}
      {opened?.deed === 'edit' && <EditUser user={opened.user} onClose={onClose} onDone={list.reload} />}
      {opened?.deed === 'remove' && <RemoveUser user={opened.user} onClose={onClose} onDone={list.reload} />}
    </Page>
  );
}

function columnsFor(
  ownId: number,
  reload: () => void,
  onDeed: (deed: Deed, user: TunnelUserView) => void,
): Column<TunnelUserView>[] {
  return [
    {
      head: 'Enabled',
      quietHead: true,
      cell: ({ id, username, status }) =>
        id !== ownId && (
          <StatusSwitch path={`/users/${id}`} label={`${username} enabled`} value={status} reload={reload} />
        ),
    },
    {
      head: 'Name',
      sort: 'username',
      grow: true,
      cell: ({ id, username }) => (
        <>
          <strong>{username}</strong> {id === ownId && <Badge tone="info">you</Badge>}
        </>
      ),
    },
    { head: 'Role', cell: ({ role }) => <span title={ROLES[role].about}>{ROLES[role].label}</span> },
    {
      head: 'Second factor',
      cell: ({ totp }) => (totp ? <Badge tone="good">on</Badge> : <span class="muted">off</span>),
    },
    { head: 'Made', sort: 'created_at', cell: ({ created_at: at }) => formatTime(at) },
    {
      head: 'Actions',
      quietHead: true,
      right: true,
      cell: (user) => (
        <RowActions>
          <RowAction label={`Edit ${user.username}`} onClick={() => onDeed('edit', user)}>
            Edit
          </RowAction>
          {user.id !== ownId && (
            <RowAction label={`Delete ${user.username}`} danger onClick={() => onDeed('remove', user)}>
              Delete …
            </RowAction>
          )}
        </RowActions>
      ),
    },
  ];
}
