import type { ApiKeyCreatedResponse, ApiKeyListResponse, ApiKeyView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm, Dialog } from '../../shared/components/dialog.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { Pager } from '../../shared/components/pager.js';
import { Secret } from '../../shared/components/secret.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { useResource } from '../../shared/state/use-resource.js';
import { NewApiKey } from './new-api-key.js';

type Opened = { deed: 'add' } | { deed: 'created'; key: ApiKeyCreatedResponse } | { deed: 'revoke'; key: ApiKeyView };

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
      title="API keys"
      actions={
        <button type="button" class="primary" onClick={() => setOpened({ deed: 'add' })}>
          New key
        </button>
      }
    >
      <Trouble error={error} retry={reload} />
      <Table
        caption="API keys"
        columns={columnsFor((key) => setOpened({ deed: 'revoke', key }))}
        rows={data?.items}
        rowKey={({ id }) => id}
        empty="No key yet."
      />
      {data && <Pager label="keys" {...data} onChange={setPage} />}
      {opened?.deed === 'add' && (
        <NewApiKey
          onClose={close}
          onCreated={(key) => {
            setOpened({ deed: 'created', key });
            reload();
          }}
        />
      )}
      {opened?.deed === 'created' && <ShowKey created={opened.key} onClose={close} />}
      {opened?.deed === 'revoke' && <RevokeKey apiKey={opened.key} onClose={close} onDone={reload} />}
    </Page>
  );
}

function columnsFor(onRevoke: (key: ApiKeyView) => void): Column<ApiKeyView>[] {
  return [
    { head: 'Name', grow: true, cell: ({ name }) => <strong>{name}</strong> },
    { head: 'Key', cell: ({ key_prefix, last_four }) => <code>{`${key_prefix}…${last_four}`}</code> },
    { head: 'May', cell: ({ scopes }) => scopes.join(', ') },
    { head: 'Made', cell: ({ created_at }) => formatTime(created_at) },
    {
      head: 'Last used',
      cell: (key) => <span title={key.last_used_ip ?? ''}>{formatRelative(key.last_used_at)}</span>,
    },
    { head: 'Expires', cell: ({ expires_at }) => (expires_at === null ? 'never' : formatRelative(expires_at)) },
    {
      head: 'Revoke',
      quietHead: true,
      cell: (key) => (
        <button type="button" class="small danger" aria-label={`Revoke ${key.name}`} onClick={() => onRevoke(key)}>
          Revoke …
        </button>
      ),
    },
  ];
}

function ShowKey({ created, onClose }: { created: ApiKeyCreatedResponse; onClose: () => void }) {
  return (
    <Dialog title={`The key ${created.name}`} onClose={onClose}>
      <p>Keep it now: it is shown this once, and nobody can read it again.</p>
      <Secret text={created.key} what="Key" />
      <div class="dialog-actions">
        <button type="button" class="primary" onClick={onClose}>
          I have kept it
        </button>
      </div>
    </Dialog>
  );
}

function RevokeKey({ apiKey, onClose, onDone }: { apiKey: ApiKeyView; onClose: () => void; onDone: () => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  const revoke = async (): Promise<void> => {
    if (!(await run(() => api.delete(`/api-keys/${apiKey.id}`), `${apiKey.name} was revoked.`))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm title="Revoke this key?" action="Revoke" busy={busy} onConfirm={() => void revoke()} onClose={onClose}>
      <p>
        Programs that use <strong>{apiKey.name}</strong> are refused from now on.
      </p>
    </Confirm>
  );
}
