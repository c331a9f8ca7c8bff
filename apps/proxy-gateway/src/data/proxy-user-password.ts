import { sealForRow, tryOpenFromRow, type SecretBox } from '@gatehouse/persistence';

const TABLE = 'proxy_users';

export function sealPassword(box: SecretBox, id: number, password: string): string {
  return sealForRow(box, { table: TABLE, id }, password);
}

/** Null if it was sealed with another secret key, or for another row. */
export function tryOpenPassword(box: SecretBox, { id, password }: { id: number; password: string }): string | null {
  return tryOpenFromRow(box, { table: TABLE, id }, password);
}
