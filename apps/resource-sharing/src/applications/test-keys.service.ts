import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { Revocations } from '../credentials/revocations.js';
import { SecretHasher } from '../credentials/secret-hasher.js';
import { oneRow, rowsOf, type SqlSource } from '../data/rows-of.js';
import { MAX_TEST_POINTS, TestData, type MadeUpShare } from '../test-mode/test-data.js';
import { issueCredential, revokeCredential } from './application-credentials.js';
import {
  CREDENTIAL_COLUMNS,
  toCredentialInfo,
  type CredentialInfo,
  type CredentialRow,
  type IssuedCredential,
} from './application-rows.js';
import { ownApplication } from './applications.service.js';

/** One for daily use, and one that takes its place. */
const MAX_TEST_KEYS = 2;

/** Test keys of applications and what is made with them. Every method knows those of the owner's application alone. */
@Injectable()
export class TestKeys {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly revocations: Revocations,
    private readonly hasher: SecretHasher,
    private readonly data: TestData,
  ) {}

  /** Keys that are not revoked, newest first. @throws NOT_FOUND */
  async list(ownerId: number, clientId: string): Promise<CredentialInfo[]> {
    const { id } = await ownApplication(this.dataSource, ownerId, clientId);
    return (await keysOf(this.dataSource, id)).map(toCredentialInfo);
  }

  /** Also for an application that nobody has reviewed. @throws NOT_FOUND, CONFLICT above two. */
  async create(ownerId: number, clientId: string): Promise<IssuedCredential> {
    return this.unitOfWork.run(async (tx) => {
      // Locked, so that keys that are made at the same time are counted one after another.
      const { id, name } = await ownApplication(tx, ownerId, clientId, 'FOR NO KEY UPDATE OF a');
      if ((await keysOf(tx, id)).length >= MAX_TEST_KEYS) {
        throw new AppError('CONFLICT', `An application may have ${MAX_TEST_KEYS} test keys`);
      }
      const issued = await issueCredential(tx, this.hasher, 'test', { id, name });
      const credentialId = issued.info.id;
      await recordEvent(tx, { type: 'app.test_key.created', userId: ownerId, applicationId: id, credentialId });
      return issued;
    });
  }

  /** Everywhere within a second. @throws NOT_FOUND */
  async revoke(ownerId: number, clientId: string, credentialId: number): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const { id } = await ownApplication(tx, ownerId, clientId);
      const revoked = await revokeCredential(tx, 'test', { applicationId: id, credentialId });
      if (!revoked) throw new AppError('NOT_FOUND', `There is no test key ${credentialId}`);
      await recordEvent(tx, { type: 'app.test_key.revoked', userId: ownerId, applicationId: id, credentialId });
      await this.revocations.announce(tx, [`credential:${credentialId}`]);
    });
  }

  /** Shares that are there to be tried; empty before the first test call. @throws NOT_FOUND */
  async shares(ownerId: number, clientId: string): Promise<MadeUpShare[]> {
    const { id } = await ownApplication(this.dataSource, ownerId, clientId);
    return this.data.madeUp(id);
  }

  /**
   * Sets the points that a user has for this application in test mode; the user is the owner unless another one is
   * named. @throws NOT_FOUND, also for a user whom the application cannot serve yet.
   */
  async setPoints(ownerId: number, clientId: string, points: number, userId = ownerId): Promise<void> {
    if (!Number.isInteger(points) || points < 0 || points > MAX_TEST_POINTS) {
      const message = `must be a whole number from 0 to ${MAX_TEST_POINTS}`;
      throw new AppError('INVALID_ARGUMENT', `points: ${message}`, { details: [{ field: 'points', message }] });
    }
    const { id } = await ownApplication(this.dataSource, ownerId, clientId);
    if (userId !== ownerId && !(await isUserOf(this.dataSource, id, userId))) {
      throw new AppError('NOT_FOUND', `The application has no user ${userId}`);
    }
    await this.data.setPoints(id, userId, points);
  }

  /** @throws NOT_FOUND */
  async empty(ownerId: number, clientId: string): Promise<void> {
    const { id } = await ownApplication(this.dataSource, ownerId, clientId);
    await this.data.empty(id);
  }
}

function keysOf(source: SqlSource, applicationId: number): Promise<CredentialRow[]> {
  const sql = `SELECT ${CREDENTIAL_COLUMNS} FROM credentials
    WHERE application_id = $1 AND kind = 'test' AND revoked_at IS NULL ORDER BY id DESC`;
  return rowsOf<CredentialRow>(source, sql, [applicationId]);
}

/** Whether the user is a test user of the application or has authorized it. */
async function isUserOf(source: SqlSource, applicationId: number, userId: number): Promise<boolean> {
  const { found } = await oneRow<{ found: boolean }>(
    source,
    `SELECT EXISTS (SELECT FROM applications WHERE id = $1 AND $2 = ANY (test_user_ids))
       OR EXISTS (SELECT FROM grants WHERE application_id = $1 AND user_id = $2 AND revoked_at IS NULL) AS found`,
    [applicationId, userId],
  );
  return found;
}
