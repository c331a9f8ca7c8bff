import { createHash } from 'node:crypto';
import { hashPassword } from '@gatehouse/auth';
import type { Language } from '@gatehouse/i18n';
import { Jobs } from '@gatehouse/jobs';
import { pgPool, UnitOfWork } from '@gatehouse/persistence';
import { AppError, networkOf, PostgresWindowCounter } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { rowsOf } from '../data/rows-of.js';
import { AccountLinks, type AccountLink } from '../mails/account-links.js';
import { invalidLink } from './email-verification.js';
import { assertPasswordApart } from './site-registration.js';
import { SiteSessions } from './site-sessions.js';

const HOUR_MS = 3_600_000;
const REQUESTS_PER_ADDRESS = 20;
const MAILS_PER_ACCOUNT = 3;

/** New passwords for people who have lost theirs, by a link in a mail. */
@Injectable()
export class PasswordReset {
  private readonly counter: PostgresWindowCounter;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly jobs: Jobs,
    private readonly links: AccountLinks,
    private readonly sessions: SiteSessions,
    dataSource: DataSource,
  ) {
    this.counter = new PostgresWindowCounter(pgPool(dataSource));
  }

  /**
   * Does the same whether there is such an account or not: a job looks for it. @throws RATE_LIMITED for too many requests
   * from one address; too many for one account are not answered by a mail, and nobody learns of that.
   */
  async request(account: string, ip: string, language: Language): Promise<void> {
    const { hits, remainingMs } = await this.counter.hit(`reset from ${networkOf(ip)}`, HOUR_MS);
    if (hits > REQUESTS_PER_ADDRESS) {
      throw new AppError('RATE_LIMITED', 'Too many passwords were asked for from this address', {
        retryAfterSeconds: remainingMs / 1_000,
        level: 'info',
        limit: 'password resets',
      });
    }
    const name = createHash('sha256').update(account.toLowerCase()).digest('base64url');
    if ((await this.counter.hit(`reset of ${name}`, HOUR_MS)).hits > MAILS_PER_ACCOUNT) return;
    await this.unitOfWork.run((tx) =>
      this.jobs.enqueueAfterCommit(tx, 'mail', { task: 'reset', account, language }, { attempts: 5 }),
    );
  }

  /** Whether a link can still be used; its page asks before it shows a form. */
  async isUsable(token: string): Promise<boolean> {
    return (await this.links.read(token, 'reset_password')) !== undefined;
  }

  /**
   * Sets the password and ends all sessions, keys and authorizations: whoever knew the old password may have made them.
   * @throws INVALID_ARGUMENT for a link that cannot be used or a password with the user name in it.
   */
  async complete(token: string, password: string, ip: string | undefined): Promise<void> {
    const link = await this.links.read(token, 'reset_password');
    if (link === undefined) throw invalidLink();
    const passwordHash = await hashPassword(password);
    await this.unitOfWork.run(async (tx) => {
      const account = await lockAccount(tx, link);
      if (account === undefined) throw invalidLink();
      // Before the link is used up, so that it works with a better password.
      assertPasswordApart(account.username, password, 'new_password');
      if ((await this.links.take(tx, token, 'reset_password')) === undefined) throw invalidLink();
      await tx.query('UPDATE site_accounts SET password_hash = $2, updated_at = now() WHERE id = $1', [
        link.userId,
        passwordHash,
      ]);
      const details = { by: 'mail' };
      await recordEvent(tx, { type: 'user.password_changed', userId: link.userId, ip, details });
      await this.sessions.endAllIn(tx, link.userId, 'password_changed', { keys: true });
    });
  }
}

/** The account, as long as the address that got the link is its own. */
async function lockAccount(
  tx: EntityManager,
  { userId, email }: AccountLink,
): Promise<{ username: string } | undefined> {
  const [account] = await rowsOf<{ username: string }>(
    tx,
    `SELECT username FROM site_accounts WHERE id = $1 AND email = $2 AND email_verified_at IS NOT NULL
       AND disabled_at IS NULL FOR NO KEY UPDATE`,
    [userId, email],
  );
  return account;
}
