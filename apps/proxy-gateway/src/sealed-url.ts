import { openFromRow, sealForRow, tryOpenFromRow, type SecretBox } from '@gatehouse/persistence';

type Table = 'subscriptions' | 'rule_sets';

/** Addresses of sources hold credentials; each opens in its own row alone. */
export function sealUrl(box: SecretBox, table: Table, id: number, url: string): string {
  return sealForRow(box, { table, id }, url);
}

/** @throws SecretBoxError when another key sealed it, or it is another row's. */
export function openUrl(box: SecretBox, table: Table, row: { id: number; sealedUrl: string }): string {
  return openFromRow(box, { table, id: row.id }, row.sealedUrl);
}

/** What lists say of an address that does not open. */
export const UNREADABLE_URL = {
  code: 'secret_key_error',
  message: 'The address cannot be opened: it was sealed with another secret key, or for another row. Set it again.',
};

/** Null for an address that does not open. */
export function tryOpenUrl(box: SecretBox, table: Table, row: { id: number; sealedUrl: string }): string | null {
  return tryOpenFromRow(box, { table, id: row.id }, row.sealedUrl);
}
