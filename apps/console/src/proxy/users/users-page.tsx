import { PROXY_USER_STATUSES, type ProxyUserPage, type ProxyUserView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { SelectField } from '../../shared/components/fields.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { Pager } from '../../shared/components/pager.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { Table } from '../../shared/components/table.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useDebounced } from '../../shared/state/use-debounced.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { EditUser } from './edit-user.js';
import { userColumns, type UserAction } from './user-columns.js';
import { RemoveUser, ResetTraffic, ShowAddress } from './user-dialogs.js';

type Opened = { dialog: 'add' } | { dialog: UserAction; user: ProxyUserView };

const NO_FILTER = { search: '', status: '' };
const STATUSES = [
  { value: '', label: t('proxyUsers.anyStatus') },
  ...PROXY_USER_STATUSES.map((value) => ({ value, label: t(`proxyUsers.statuses.${value}`) })),
];

/** The users of the proxy's ports, with their limits and what they carry. */
export function UsersPage({ query }: PageProps) {
  const api = useApi();
  const [filter, setFilter] = useAddressFilter(query, NO_FILTER);
  const [page, setPage] = useState({ limit: 50, offset: 0 });
  const [opened, setOpened] = useState<Opened | null>(null);
  const search = useDebounced(filter.search);
  const asked = { ...page, ...(search !== '' && { search }), ...(filter.status !== '' && { status: filter.status }) };
  const { data, error, reload } = useResource(
    (signal) => api.get<ProxyUserPage>('/proxy-users', asked, signal),
    [page, search, filter.status],
    { everyMs: 3_000 },
  );
  const change = (changes: Partial<typeof NO_FILTER>): void => {
    setFilter(changes);
    setPage(({ limit }) => ({ limit, offset: 0 }));
  };
  return (
    <Page
      title={t('proxyUsers.title')}
      actions={
        <button type="button" class="primary" onClick={() => setOpened({ dialog: 'add' })}>
          {t('proxyUsers.add')}
        </button>
      }
    >
      <SearchBar
        label={t('proxyUsers.filter')}
        placeholder={t('proxyUsers.search')}
        value={filter.search}
        onInput={(text) => change({ search: text })}
      >
        <SelectField
          label={t('words.state')}
          hideLabel
          value={filter.status}
          choices={STATUSES}
          onChange={(status) => change({ status })}
        />
      </SearchBar>
      <Trouble error={error} retry={reload} />
      <Table
        caption={t('proxyUsers.title')}
        columns={userColumns((dialog, user) => setOpened({ dialog, user }))}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={filter.search === '' && filter.status === '' ? t('proxyUsers.empty') : t('common.nothingFound')}
      />
      {data && <Pager label={t('proxyUsers.title')} {...data} onChange={setPage} />}
      <Dialogs opened={opened} setOpened={setOpened} reload={reload} />
    </Page>
  );
}

interface DialogsProps {
  opened: Opened | null;
  setOpened: (opened: Opened | null) => void;
  reload: () => void;
}

function Dialogs({ opened, setOpened, reload }: DialogsProps) {
  const onClose = (): void => setOpened(null);
  if (opened === null) return null;
  if (opened.dialog === 'add' || opened.dialog === 'edit') {
    const showAddress = (user: ProxyUserView): void => {
      setOpened({ dialog: 'address', user });
      reload();
    };
    const user = opened.dialog === 'edit' ? opened.user : null;
    return <EditUser key={user?.id} user={user} onClose={onClose} onCreated={showAddress} onDone={reload} />;
  }
  const { user, dialog } = opened;
  if (dialog === 'address') return <ShowAddress user={user} onClose={onClose} />;
  const Dialog = dialog === 'reset' ? ResetTraffic : RemoveUser;
  return <Dialog user={user} onClose={onClose} onDone={reload} />;
}
