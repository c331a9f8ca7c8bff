import type { ApiKeyView } from '@gatehouse/contracts';
import type { Column } from '../components/table.js';
import { RowAction } from '../components/row-actions.js';
import { formatRelative, formatTime } from '../format/times.js';

/** What both services say of a key. */
type ListedKey = Omit<ApiKeyView, 'revoked_at'>;

/** `more`: of one service, behind what the key may. */
export function apiKeyColumns<K extends ListedKey>(onRevoke: (key: K) => void, more: Column<K>[] = []): Column<K>[] {
  return [
    { head: 'Name', sort: 'name', grow: true, cell: ({ name }) => <strong>{name}</strong> },
    { head: 'Key', cell: ({ key_prefix, last_four }) => <code>{`${key_prefix}…${last_four}`}</code> },
    { head: 'May', cell: ({ scopes }) => scopes.join(', ') },
    ...more,
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
