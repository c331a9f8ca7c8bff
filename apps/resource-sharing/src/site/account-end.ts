import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { Revocations, type Subject } from '../credentials/revocations.js';
import { rowsOf } from '../data/rows-of.js';
import { TestData } from '../test-mode/test-data.js';
import { SiteSessions } from './site-sessions.js';

/** What goes with an account at once; $1: its id. */
const FORGET = [
  'UPDATE shares SET deleted_at = coalesce(deleted_at, now()), remark = NULL, updated_at = now() WHERE owner_id = $1',
  // After the statement that waits for unlocks: whoever has paid keeps the link, and nobody needs the others.
  `UPDATE shares s SET url = '', access_code = '', title = NULL, link_key = 'deleted:' || s.id
    WHERE s.owner_id = $1 AND NOT EXISTS (SELECT FROM unlocks u WHERE u.share_id = s.id)`,
  `UPDATE resource_sharing_test.shares SET deleted_at = coalesce(deleted_at, now()), updated_at = now(), url = '',
    access_code = '', title = NULL, remark = NULL, link_key = 'deleted:' || id
    WHERE made_up IS NULL AND owner_id IN (SELECT id FROM resource_sharing_test.test_accounts WHERE user_id = $1)`,
  'DELETE FROM credential_addresses WHERE credential_id IN (SELECT id FROM credentials WHERE user_id = $1)',
  "UPDATE credentials SET name = 'deleted', ip_allow = '{}', last_used_at = NULL, last_used_ip = NULL WHERE user_id = $1",
  ...['notices', 'mails', 'account_links', 'user_totp', 'sign_in_networks', 'messages', 'title_subscriptions'].map(
    (table) => `DELETE FROM ${table} WHERE user_id = $1`,
  ),
  ...['messages', 'title_subscriptions'].map(
    (table) => `DELETE FROM resource_sharing_test.${table}
      WHERE user_id IN (SELECT id FROM resource_sharing_test.test_accounts WHERE user_id = $1)`,
  ),
];

/** Disables and deletes accounts, with everything that acts for them. */
@Injectable()
export class AccountEnd {
  constructor(
    private readonly sessions: SiteSessions,
    private readonly revocations: Revocations,
    private readonly testData: TestData,
  ) {}

  /** Nothing acts for a disabled account: no session, no key and no application. @throws CONFLICT, NOT_FOUND */
  async disable(tx: EntityManager, userId: number, actorId: number): Promise<void> {
    await assertReplaceable(tx, userId);
    await tx.query(
      'UPDATE site_accounts SET disabled_at = coalesce(disabled_at, now()), updated_at = now() WHERE id = $1',
      [userId],
    );
    await recordEvent(tx, { type: 'user.disabled', userId, actorId });
    await this.sessions.endAllIn(tx, userId, 'user_disabled');
    await this.revocations.announce(tx, [`user:${userId}`]);
  }

  async enable(tx: EntityManager, userId: number, actorId: number): Promise<void> {
    await tx.query('UPDATE site_accounts SET disabled_at = NULL, updated_at = now() WHERE id = $1', [userId]);
    await recordEvent(tx, { type: 'user.enabled', userId, actorId });
    await this.revocations.announce(tx, [`user:${userId}`]);
  }

  /**
   * Removes all personal data from the account and disables it. Its row stays, for the ledger and for users who
   * unlocked its shares: they keep the links that they paid for. Events have its number, not its name.
   * @throws CONFLICT for the last administrator.
   */
  async delete(tx: EntityManager, userId: number, ip: string | undefined): Promise<void> {
    await assertReplaceable(tx, userId);
    const deleted = 'DELETE FROM applications WHERE owner_id = $1 RETURNING id';
    const applications = await rowsOf<{ id: number }>(tx, deleted, [userId]);
    await this.testData.emptyIn(
      tx,
      applications.map(({ id }) => id),
    );
    for (const statement of FORGET) await tx.query(statement, [userId]);
    // A name that cannot be registered, and a value that is not the hash of any password.
    await tx.query(
      `UPDATE site_accounts SET username = 'deleted:' || id, nickname = 'deleted', email = NULL, email_verified_at = NULL, avatar_url = NULL,
         password_hash = '', role = 'member', permissions = '{}', language = NULL, theme = NULL, premium_until = NULL,
         last_active_at = NULL, disabled_at = now(), updated_at = now() WHERE id = $1`,
      [userId],
    );
    await recordEvent(tx, { type: 'user.deleted', userId, ip });
    await this.sessions.endAllIn(tx, userId, 'user_disabled', { keys: true });
    await this.revocations.announce(tx, [
      `user:${userId}`,
      ...applications.map(({ id }): Subject => `application:${id}`),
    ]);
  }
}

/** Locks all administrators, so that two of them who delete their accounts at once do not leave none. */
export async function assertReplaceable(tx: EntityManager, userId: number): Promise<void> {
  const [first, second] = await rowsOf<{ id: number }>(
    tx,
    `SELECT id FROM site_accounts WHERE role = 'administrator' AND disabled_at IS NULL ORDER BY id FOR NO KEY UPDATE`,
  );
  if (second === undefined && first?.id === userId) {
    throw new AppError('CONFLICT', 'The last administrator cannot delete the account');
  }
  const [account] = await rowsOf(tx, 'SELECT id FROM site_accounts WHERE id = $1 FOR NO KEY UPDATE', [userId]);
  if (account === undefined) throw new AppError('NOT_FOUND', `There is no account ${userId}`);
}
