import type { NewTunnelApiKeyView, TunnelApiKeyView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { Dialog } from '../../shared/components/dialog.js';
import { Page, Trouble } from '../../shared/components/page.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { RowAction } from '../../shared/components/row-actions.js';
import { Secret } from '../../shared/components/secret.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatRelative, formatTime } from '../../shared/format/times.js';
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
  return [
    { head: 'Name', sort: 'name', grow: true, cell: ({ name }) => <strong>{name}</strong> },
    { head: 'Key', cell: ({ key_prefix, last_four }) => <code>{`${key_prefix}…${last_four}`}</code> },
    { head: 'May', cell: ({ scopes }) => scopes.join(', ') },
    ...(isAdministrator
      ? [{ head: 'Whose', cell: ({ user_id: id }: TunnelApiKeyView) => (id === me.id ? 'yours' : `user ${id}`) }]
      : []),
    { head: 'Made', sort: 'created_at', cell: ({ created_at }) => formatTime(created_at) },
    {
      head: 'Last used',
      cell: (key) => <span title={key.last_used_ip ?? ''}>{formatRelative(key.last_used_at)}</span>,
    },
    { head: 'Expires', cell: ({ expires_at }) => (expires_at === null ? 'never' : formatRelative(expires_at)) },
    {
      head: 'Revoke',
      quietHead: true,
      right: true,
      cell: (key) => (
        <RowAction label={`Revoke ${key.name}`} danger onClick={() => onRevoke(key)}>
          Revoke …
        </RowAction>
      ),
    },
  ];
}

function ShowKey({ created, onClose }: { created: NewTunnelApiKeyView; onClose: () => void }) {
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

interface RevokeKeyProps {
  apiKey: TunnelApiKeyView;
  onClose: () => void;
  onDone: () => void;
}

function RevokeKey({ apiKey: { id, name }, onClose, onDone }: RevokeKeyProps) {
  return (
    <RemoveDialog
      title="Revoke this key?"
      action="Revoke"
      path={`/api-keys/${id}`}
      name={name}
      onClose={onClose}
      onDone={onDone}
    >
      <p>
        Programs that use <strong>{name}</strong> are refused from now on.
      </p>
    </RemoveDialog>
  );
}
