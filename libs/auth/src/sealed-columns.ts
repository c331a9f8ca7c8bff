import type { SealedColumn, SecretBox } from '@gatehouse/persistence';
import { idempotencyPlace } from './idempotency/idempotency-store.js';
import { secondFactorPlace } from './second-factor/second-factors.js';
import { SIGNING_KEYS_PLACE } from './tokens/signing-keys.js';

/** The sealed columns of the tables of this library. `schema`: the service's schema. */
export function sealedColumns(schema: string, box: SecretBox, has: { signingKeys: boolean }): SealedColumn[] {
  const answers = (column: string): SealedColumn => ({
    table: `${schema}.idempotency_keys`,
    key: ['actor', 'key'],
    column,
    box,
    place: ({ actor, key }) => idempotencyPlace(String(actor), String(key)),
  });
  const columns = [answers('request_hash'), answers('sealed_answer')];
  if (has.signingKeys) {
    const place = (): string => SIGNING_KEYS_PLACE;
    columns.push({ table: `${schema}.signing_keys`, key: ['id'], column: 'sealed_key', box, place });
  }
  return columns;
}

/** The sealed column of the table of second factors. */
export function secondFactorColumn(schema: string, box: SecretBox): SealedColumn {
  return {
    table: `${schema}.user_totp`,
    key: ['user_id'],
    column: 'sealed_secret',
    box,
    place: ({ user_id: userId }) => secondFactorPlace(Number(userId)),
  };
}
