import type { NewTunnelApiKeyView, TunnelApiKeyView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { apiKeyColumns } from '../../shared/api-keys/api-key-columns.js';
import { RevokeKey, ShowKey } from '../../shared/api-keys/api-key-dialogs.js';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { t } from '../messages/index.js';
import { useOwners } from '../parts/use-owners.js';
import { useIsAdministrator } from '../user-context.js';
import { MAY } from './may.js';
import { NewApiKey } from './new-api-key.js';

type Opened =
  { action: 'new' } | { action: 'created'; key: NewTunnelApiKeyView } | { action: 'revoke'; key: TunnelApiKeyView };

/** Keys for programs: one's own; administrators see all. */
export function ApiKeysPage() {
  const list = useCursorList<TunnelApiKeyView>('/api-keys', {}, { sort: 'name' });
  const [opened, setOpened] = useState<Opened | null>(null);
  const columns = useColumns(list.rows ?? [], (key) => setOpened({ action: 'revoke', key }));
  const onClose = (): void => setOpened(null);
  return (
    <Page
      title={t('apiKeys.title')}
      actions={
        <button type="button" class="primary" onClick={() => setOpened({ action: 'new' })}>
          {t('keys.add')}
        </button>
      }
    >
      <Trouble error={list.error} retry={list.reload} />
      <Table
        caption={t('apiKeys.title')}
        columns={columns}
        rows={list.rows}
        rowKey={({ id }) => id}
        sort={list.sort}
        onSort={list.setSort}
        empty={t('keys.empty')}
      />
      <CursorPager label={t('apiKeys.title')} order="any" note="" {...list.pager} />
      {opened?.action === 'new' && (
        <NewApiKey
          onClose={onClose}
          onCreated={(key) => {
            setOpened({ action: 'created', key });
            list.reload();
          }}
        />
      )}
      {opened?.action === 'created' && <ShowKey created={opened.key} onClose={onClose} />}
      {opened?.action === 'revoke' && <RevokeKey apiKey={opened.key} onClose={onClose} onDone={list.reload} />}
    </Page>
  );
}

function useColumns(
  rows: readonly TunnelApiKeyView[],
  onRevoke: (key: TunnelApiKeyView) => void,
): Column<TunnelApiKeyView>[] {
  const isAdministrator = useIsAdministrator();
  const ownerOf = useOwners(rows);
  const whose: Column<TunnelApiKeyView> = { head: t('words.owner'), cell: ({ user_id: id }) => ownerOf(id) };
  return apiKeyColumns({ may: MAY, onRevoke, more: isAdministrator ? [whose] : [] });
}
