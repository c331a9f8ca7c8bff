import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { Revocations, type Subject } from '../credentials/revocations.js';
import { oneRow, rowsOf } from '../data/rows-of.js';
import { SecretHasher } from '../credentials/secret-hasher.js';
import { CREDENTIAL_COLUMNS, toCredentialInfo, type CredentialInfo, type CredentialRow } from './application-rows.js';
import { ownApplication } from './applications.service.js';

/** A credential at the only moment when its secret can be read. */
export interface IssuedCredential {
  readonly secret: string;
  readonly info: CredentialInfo;
}

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
    const secret = this.hasher.create('application');
    const row = await oneRow<CredentialRow>(
      tx,
      `INSERT INTO credentials (kind, application_id, name, secret_hash, prefix, last_four)
       VALUES ('application', $1, $2, $3, $4, $5) RETURNING ${CREDENTIAL_COLUMNS}`,
      [id, name, secret.hash, secret.prefix, secret.lastFour],
    );
    const info = toCredentialInfo(row);
    await recordEvent(tx, { type: 'app.secret.created', userId: ownerId, applicationId: id, credentialId: info.id });
    await this.revocations.announce(tx, ended);
    return { secret: secret.text, info };
  }

  /** Revokes one secret at once. @throws NOT_FOUND */
  async revoke(ownerId: number, clientId: string, credentialId: number): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const { id } = await ownApplication(tx, ownerId, clientId);
      const rows = await rowsOf(
        tx,
        `UPDATE credentials SET revoked_at = now()
         WHERE id = $1 AND application_id = $2 AND kind = 'application' AND revoked_at IS NULL RETURNING id`,
        [credentialId, id],
      );
      if (rows.length === 0) throw new AppError('NOT_FOUND', `There is no secret ${credentialId}`);
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
