import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { SealedColumn, SecretBox } from '@gatehouse/persistence';
import { calculateJwkThumbprint, exportJWK } from 'jose';

const create = promisify(generateKeyPair);
/** What OpenID Connect Core section 15.1 requires every client to know. */
export const ID_TOKEN_ALGORITHM = 'RS256';
const MODULUS_BITS = 2_048;
/** Clients and replicas read the published keys again within this time, so that they know a key before it signs. */
const AHEAD_SECONDS = 600;

/** The part of a pool or transaction that this needs. */
interface Queries {
  query(sql: string, values: unknown[]): Promise<unknown>;
}

/** The place that a sealed key is bound to. */
export function identityKeyPlace(kid: string): string {
  return `identity_keys:${kid}`;
}

/** For a change of the secret key. `schema`: where the service has its tables. */
export function identityKeyColumn(schema: string, box: SecretBox): SealedColumn {
  const place = ({ kid }: Record<string, unknown>): string => identityKeyPlace(String(kid));
  return { table: `${schema}.identity_keys`, key: ['kid'], column: 'sealed_key', box, place };
}

/**
 * Stores a new key, sealed. The first one of a service signs at once, a later one when everybody had time to read it; while
 * one waits for that, nothing is stored. `table`: with its schema, unless the connection has it in its search path.
 */
export async function storeIdentityKey(queries: Queries, box: SecretBox, table = 'identity_keys'): Promise<void> {
  const { privateKey, publicKey } = await create('rsa', { modulusLength: MODULUS_BITS });
  const jwk = await exportJWK(publicKey);
  // RFC 7638: the name says which key it is, whoever asks.
  const kid = await calculateJwkThumbprint(jwk);
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  await queries.query(
    `INSERT INTO ${table} (kid, sealed_key, public_jwk, signs_from)
     SELECT $1, $2, $3, CASE WHEN EXISTS (SELECT FROM ${table}) THEN now() + make_interval(secs => $4) ELSE now() END
     WHERE NOT EXISTS (SELECT FROM ${table} WHERE signs_from > now())`,
    [kid, box.seal(pem, identityKeyPlace(kid)), { ...jwk, kid, use: 'sig', alg: ID_TOKEN_ALGORITHM }, AHEAD_SECONDS],
  );
}
