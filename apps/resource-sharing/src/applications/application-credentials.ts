import type { EntityManager } from 'typeorm';
import type { SecretHasher } from '../credentials/secret-hasher.js';
import { oneRow, rowsOf } from '../data/rows-of.js';
import { CREDENTIAL_COLUMNS, toCredentialInfo, type CredentialRow, type IssuedCredential } from './application-rows.js';

/** Secrets of applications and test keys. */
type ApplicationCredentialKind = 'application' | 'test';

/** Creates a credential for an application. */
export async function issueCredential(
  tx: EntityManager,
  hasher: SecretHasher,
  kind: ApplicationCredentialKind,
  application: { readonly id: number; readonly name: string },
): Promise<IssuedCredential> {
  const secret = hasher.create(kind);
  const row = await oneRow<CredentialRow>(
    tx,
    `INSERT INTO credentials (kind, application_id, name, secret_hash, prefix, last_four)
     VALUES ($1, $2, $3, $4, $5, $6) RETURNING ${CREDENTIAL_COLUMNS}`,
    [kind, application.id, application.name, secret.hash, secret.prefix, secret.lastFour],
  );
  return { secret: secret.text, info: toCredentialInfo(row) };
}

/** False for a credential that is not the application's, is of another kind, or is revoked already. */
export async function revokeCredential(
  tx: EntityManager,
  kind: ApplicationCredentialKind,
  { applicationId, credentialId }: { applicationId: number; credentialId: number },
): Promise<boolean> {
  const rows = await rowsOf(
    tx,
    `UPDATE credentials SET revoked_at = now()
     WHERE id = $1 AND application_id = $2 AND kind = $3 AND revoked_at IS NULL RETURNING id`,
    [credentialId, applicationId, kind],
  );
  return rows.length > 0;
}
