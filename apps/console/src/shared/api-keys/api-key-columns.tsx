import type { ApiKeyView } from '@gatehouse/contracts';
import { wordsOfScopes, type KeyScopeWords } from './key-scopes.js';
import type { Column } from '../components/table.js';
import { RowAction } from '../components/row-actions.js';
import { formatRelative, formatTime } from '../format/times.js';
import { t } from '../messages/index.js';

/** What both services say of a key. */
type ListedKey = Omit<ApiKeyView, 'revoked_at'>;

interface KeyColumnOptions<K> {
  /** The permissions in words of the service. */
  may: KeyScopeWords;
  onRevoke: (key: K) => void;
  /** Columns of one service, after the permissions. */
  more?: Column<K>[];
}

export function apiKeyColumns<K extends ListedKey>({ may, onRevoke, more = [] }: KeyColumnOptions<K>): Column<K>[] {
  return [
    { head: t('common.name'), sort: 'name', grow: true, cell: ({ name }) => <strong>{name}</strong> },
    { head: t('apiKeys.key'), cell: ({ key_prefix, last_four }) => <code>{`${key_prefix}…${last_four}`}</code> },
    { head: t('common.permissions'), cell: ({ scopes }) => wordsOfScopes(scopes, may) },
    ...more,
    { head: t('common.created'), sort: 'created_at', cell: ({ created_at }) => formatTime(created_at) },
    {
      head: t('common.lastUsed'),
      cell: (key) => <span title={key.last_used_ip ?? ''}>{formatRelative(key.last_used_at)}</span>,
    },
    {
      head: t('common.expires'),
      cell: ({ expires_at }) => (expires_at === null ? t('common.never') : formatRelative(expires_at)),
    },
    {
      head: t('apiKeys.revoke'),
      quietHead: true,
      right: true,
      cell: (key) => (
        <RowAction label={t('apiKeys.revokeName', { name: key.name })} danger onClick={() => onRevoke(key)}>
          {t('apiKeys.revokeMore')}
        </RowAction>
      ),
    },
  ];
}
