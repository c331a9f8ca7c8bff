import type { ApiKeyCreatedResponse, ApiKeyListResponse, ApiKeyView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { apiKeyColumns } from '../../shared/api-keys/api-key-columns.js';
import { RevokeKey, ShowKey } from '../../shared/api-keys/api-key-dialogs.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { Pager } from '../../shared/components/pager.js';
import { Table } from '../../shared/components/table.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { MAY } from './may.js';
import { NewApiKey } from './new-api-key.js';

type Opened =
  { dialog: 'add' } | { dialog: 'created'; key: ApiKeyCreatedResponse } | { dialog: 'revoke'; key: ApiKeyView };

/** Keys for programs. */
export function ApiKeysPage() {
  const api = useApi();
  const [page, setPage] = useState({ limit: 50, offset: 0 });
  const [opened, setOpened] = useState<Opened | null>(null);
  const { data, error, reload } = useResource(
    (signal) => api.get<ApiKeyListResponse>('/api-keys', page, signal),
    [page],
  );
  const close = (): void => setOpened(null);
  return (
    <Page
      title={t('apiKeys.title')}
      actions={
        <button type="button" class="primary" onClick={() => setOpened({ dialog: 'add' })}>
          {t('keys.add')}
        </button>
      }
    >
      <Trouble error={error} retry={reload} />
      <Table
        caption={t('apiKeys.title')}
        columns={apiKeyColumns<ApiKeyView>({ may: MAY, onRevoke: (key) => setOpened({ dialog: 'revoke', key }) })}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty={t('keys.empty')}
      />
      {data && <Pager label={t('apiKeys.title')} {...data} onChange={setPage} />}
      {opened?.dialog === 'add' && (
        <NewApiKey
          onClose={close}
          onCreated={(key) => {
            setOpened({ dialog: 'created', key });
            reload();
          }}
        />
      )}
      {opened?.dialog === 'created' && <ShowKey created={opened.key} onClose={close} />}
      {opened?.dialog === 'revoke' && <RevokeKey apiKey={opened.key} onClose={close} onDone={reload} />}
    </Page>
  );
}
