import { openFromRow, sealForRow, SecretBoxError, type SecretBox } from '@gatehouse/persistence';

const TABLE = 'proxy_users';

export function sealPassword(box: SecretBox, id: number, password: string): string {
  return sealForRow(box, { table: TABLE, id }, password);
}

/** Null if it was sealed with another secret key, or for another row. */
export function tryOpenPassword(box: SecretBox, row: { id: number; password: string }): string | null {
  try {
    return openFromRow(box, { table: TABLE, id: row.id }, row.password);
  } catch (error) {
    if (error instanceof SecretBoxError) return null;
    throw error;
  }
}
