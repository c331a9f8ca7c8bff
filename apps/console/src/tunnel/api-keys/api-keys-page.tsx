import type { NewTunnelApiKeyView, TunnelApiKeyView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { apiKeyColumns } from '../../shared/api-keys/api-key-columns.js';
import { RevokeKey, ShowKey } from '../../shared/api-keys/api-key-dialogs.js';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { useIsAdministrator, useUser } from '../user-context.js';
import { NewApiKey } from './new-api-key.js';

type Opened =
  { deed: 'new' } | { deed: 'created'; key: NewTunnelApiKeyView } | { deed: 'revoke'; key: TunnelApiKeyView };

/** Keys for programs: one's own; administrators see all. */
export function ApiKeysPage() {
  const list = useCursorList<TunnelApiKeyView>('/api-keys', {}, { sort: 'name' });
  const [opened, setOpened] = useState<Opened | null>(null);
  const columns = useColumns((key) => setOpened({ deed: 'revoke', key }));
  const onClose = (): void => setOpened(null);
  return (
    <Page
      title="API keys"
      actions={
        <button type="button" class="primary" onClick={() => setOpened({ deed: 'new' })}>
          New key
        </button>
      }
    >
      <Trouble error={list.error} retry={list.reload} />
      <Table
        caption="API keys"
        columns={columns}
        rows={list.rows}
        rowKey={({ id }) => id}
        sort={list.sort}
        onSort={list.setSort}
        empty="No key yet. Programs use keys in place of a login: Authorization: Bearer, and the key."
      />
      <CursorPager label="keys" order="any" note="" {...list.pager} />
      {opened?.deed === 'new' && (
        <NewApiKey
          onClose={onClose}
          onCreated={(key) => {
            setOpened({ deed: 'created', key });
            list.reload();
          }}
        />
      )}
      {opened?.deed === 'created' && <ShowKey created={opened.key} onClose={onClose} />}
      {opened?.deed === 'revoke' && <RevokeKey apiKey={opened.key} onClose={onClose} onDone={list.reload} />}
    </Page>
  );
}

function useColumns(onRevoke: (key: TunnelApiKeyView) => void): Column<TunnelApiKeyView>[] {
  const isAdministrator = useIsAdministrator();
  const me = useUser();
  const whose: Column<TunnelApiKeyView> = {
    head: 'Whose',
    cell: ({ user_id: id }) => (id === me.id ? 'yours' : `user ${id}`),
  };
  return apiKeyColumns(onRevoke, isAdministrator ? [whose] : []);
}
