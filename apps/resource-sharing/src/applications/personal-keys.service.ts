import { readKeyExpiry } from '@gatehouse/auth';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { Revocations } from '../credentials/revocations.js';
import { oneRow, rowsOf } from '../data/rows-of.js';
import { SecretHasher } from '../credentials/secret-hasher.js';
import type { OpenScope } from '../credentials/caller.js';
import {
  CREDENTIAL_COLUMNS,
  toCredentialInfo,
  type CredentialInfo,
  type CredentialRow,
  type IssuedCredential,
} from './application-rows.js';

export interface NewPersonalKey {
  readonly name: string;
  readonly scopes: readonly OpenScope[];
  /** RFC 3339. Absent: the key never expires. */
  readonly expiresAt?: string | null | undefined;
  readonly ipAllow?: readonly string[] | undefined;
}

const MAX_KEYS = 20;

/** Keys with which users call the open API for themselves. */
@Injectable()
export class PersonalKeys {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly revocations: Revocations,
    private readonly hasher: SecretHasher,
  ) {}

  /** Keys of a user that are not revoked, newest first. */
  async list(userId: number): Promise<CredentialInfo[]> {
    const rows = await rowsOf<CredentialRow>(
      this.dataSource,
      `SELECT ${CREDENTIAL_COLUMNS} FROM credentials WHERE user_id = $1 AND revoked_at IS NULL ORDER BY id DESC`,
      [userId],
    );
    return rows.map(toCredentialInfo);
  }

  /**
   * @throws VIP_REQUIRED for the scope `vip` without Premium, INVALID_ARGUMENT for an expiry in the past, CONFLICT
   * above 20.
   */
  async create(userId: number, given: NewPersonalKey, tx?: EntityManager): Promise<IssuedCredential> {
    if (tx === undefined) return this.unitOfWork.run((own) => this.create(userId, given, own));
    const expiresAt = readKeyExpiry(given.expiresAt);
    await assertMayHave(tx, userId, given.scopes);
    const secret = this.hasher.create('personal');
    const row = await oneRow<CredentialRow>(
      tx,
      `INSERT INTO credentials (kind, user_id, name, secret_hash, prefix, last_four, scopes, expires_at, ip_allow)
       VALUES ('personal', $1, $2, $3, $4, $5, $6, $7, $8) RETURNING ${CREDENTIAL_COLUMNS}`,
      [userId, given.name, secret.hash, secret.prefix, secret.lastFour, given.scopes, expiresAt, given.ipAllow ?? []],
    );
    const info = toCredentialInfo(row);
    await recordEvent(tx, { type: 'key.created', userId, credentialId: info.id, details: { name: given.name } });
    return { secret: secret.text, info };
  }

  /** Revokes a key everywhere within a second. @throws NOT_FOUND if it does not belong to this user. */
  async revoke(userId: number, credentialId: number): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const rows = await rowsOf(
        tx,
        'UPDATE credentials SET revoked_at = now() WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL RETURNING id',
        [credentialId, userId],
      );
      if (rows.length === 0) throw new AppError('NOT_FOUND', `There is no key ${credentialId}`);
      await recordEvent(tx, { type: 'key.revoked', userId, credentialId });
      await this.revocations.announce(tx, [`credential:${credentialId}`]);
    });
  }
}

/** Locks the user's row, so that concurrent requests are counted one after another. */
async function assertMayHave(tx: EntityManager, userId: number, scopes: readonly OpenScope[]): Promise<void> {
  const [user] = await rowsOf<{ premium: boolean }>(
    tx,
    'SELECT coalesce(premium_until > now(), false) AS premium FROM site_accounts WHERE id = $1 FOR NO KEY UPDATE',
    [userId],
  );
  if (user === undefined) throw new AppError('NOT_FOUND', 'The account does not exist');
  if (scopes.includes('vip') && !user.premium) {
    throw new AppError('VIP_REQUIRED', 'A key with the scope vip needs Premium');
  }
  const { n } = await oneRow<{ n: number }>(
    tx,
    'SELECT count(*)::integer AS n FROM credentials WHERE user_id = $1 AND revoked_at IS NULL',
    [userId],
  );
  if (n >= MAX_KEYS) throw new AppError('CONFLICT', `An account may have ${MAX_KEYS} keys`);
}
