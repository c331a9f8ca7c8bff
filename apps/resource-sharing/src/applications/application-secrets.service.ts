import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { Revocations, type Subject } from '../credentials/revocations.js';
import { rowsOf } from '../data/rows-of.js';
import { SecretHasher } from '../credentials/secret-hasher.js';
import { issueCredential, revokeCredential } from './application-credentials.js';
import {
  CREDENTIAL_COLUMNS,
  toCredentialInfo,
  type CredentialInfo,
  type CredentialRow,
  type IssuedCredential,
} from './application-rows.js';
import { ownApplication } from './applications.service.js';

const DEFAULT_OVERLAP_SECONDS = 7 * 86_400;

/** Secrets of applications: at most two at a time, while one replaces the other. */
@Injectable()
export class ApplicationSecrets {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly revocations: Revocations,
    private readonly hasher: SecretHasher,
  ) {}

  /** Secrets that are neither revoked nor expired, newest first. @throws NOT_FOUND */
  async list(ownerId: number, clientId: string): Promise<CredentialInfo[]> {
    const { id } = await ownApplication(this.dataSource, ownerId, clientId);
    const rows = await rowsOf<CredentialRow>(
      this.dataSource,
      `SELECT ${CREDENTIAL_COLUMNS} FROM credentials
       WHERE application_id = $1 AND kind = 'application' AND revoked_at IS NULL
         AND (expires_at IS NULL OR expires_at > now()) ORDER BY id DESC`,
      [id],
    );
    return rows.map(toCredentialInfo);
  }

  /**
   * Creates a new secret. The previous one stays valid for `overlapSeconds` (default: 7 days); older ones end at once.
   * @throws NOT_FOUND
   */
  async rotate(
    ownerId: number,
    clientId: string,
    { overlapSeconds = DEFAULT_OVERLAP_SECONDS }: { overlapSeconds?: number | undefined } = {},
    tx?: EntityManager,
  ): Promise<IssuedCredential> {
    if (tx === undefined) {
      return this.unitOfWork.run((own) => this.rotate(ownerId, clientId, { overlapSeconds }, own));
    }
    // Locked, so that two concurrent rotations do not leave three secrets.
    const { id, name } = await ownApplication(tx, ownerId, clientId, 'FOR NO KEY UPDATE OF a');
    const ended = await retire(tx, id, overlapSeconds);
    const issued = await issueCredential(tx, this.hasher, 'application', { id, name });
    const credentialId = issued.info.id;
    await recordEvent(tx, { type: 'app.secret.created', userId: ownerId, applicationId: id, credentialId });
    await this.revocations.announce(tx, ended);
    return issued;
  }

  /** Revokes one secret at once. @throws NOT_FOUND */
  async revoke(ownerId: number, clientId: string, credentialId: number): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const { id } = await ownApplication(tx, ownerId, clientId);
      const revoked = await revokeCredential(tx, 'application', { applicationId: id, credentialId });
      if (!revoked) throw new AppError('NOT_FOUND', `There is no secret ${credentialId}`);
      await recordEvent(tx, { type: 'app.secret.revoked', userId: ownerId, applicationId: id, credentialId });
      await this.revocations.announce(tx, [`credential:${credentialId}`]);
    });
  }
}

/** Sets an end for the newest valid secret and revokes the others; resolves to those that changed. */
async function retire(tx: EntityManager, applicationId: number, overlapSeconds: number): Promise<Subject[]> {
  const rows = await rowsOf<{ id: number }>(
    tx,
    `WITH live AS (
       SELECT id, row_number() OVER (ORDER BY id DESC) AS place FROM credentials
       WHERE application_id = $1 AND kind = 'application' AND revoked_at IS NULL
         AND (expires_at IS NULL OR expires_at > now())
     )
     UPDATE credentials c SET
       expires_at = CASE WHEN place = 1 THEN least(c.expires_at, now() + make_interval(secs => $2)) ELSE c.expires_at END,
       revoked_at = CASE WHEN place = 1 THEN NULL ELSE now() END
     FROM live WHERE c.id = live.id RETURNING c.id`,
    [applicationId, overlapSeconds],
  );
  return rows.map(({ id }): Subject => `credential:${id}`);
}
