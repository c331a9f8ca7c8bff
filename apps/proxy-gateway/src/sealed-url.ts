import { openFromRow, sealForRow, type SecretBox } from '@gatehouse/persistence';

type Table = 'subscriptions' | 'rule_sets';

/** Addresses of sources hold credentials; each opens in its own row alone. */
export function sealUrl(box: SecretBox, table: Table, id: number, url: string): string {
  return sealForRow(box, { table, id }, url);
}

/** @throws SecretBoxError when another key sealed it, or it is another row's. */
export function openUrl(box: SecretBox, table: Table, row: { id: number; sealedUrl: string }): string {
  return openFromRow(box, { table, id: row.id }, row.sealedUrl);
}
