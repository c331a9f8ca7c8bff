import type { Language } from '@gatehouse/i18n';
import { pgPool, UnitOfWork } from '@gatehouse/persistence';
import { AppError, PostgresWindowCounter } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { rowsOf } from '../data/rows-of.js';
import { AccountLinks } from '../mails/account-links.js';
import { MailOutbox } from '../mails/mail-outbox.js';
import { SiteAccounts } from './site-accounts.service.js';

const HOUR_MS = 3_600_000;
const MAILS_PER_HOUR = 5;

/** Makes sure that an address belongs to the owner of an account: passwords are reset and news are sent there. */
@Injectable()
export class EmailVerification {
  private readonly counter: PostgresWindowCounter;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: SiteAccounts,
    private readonly links: AccountLinks,
    private readonly outbox: MailOutbox,
    dataSource: DataSource,
  ) {
    this.counter = new PostgresWindowCounter(pgPool(dataSource));
  }

  /** Sends a link to a new address, in the transaction that stores the address. */
  async begin(tx: EntityManager, userId: number, email: string, language: Language): Promise<void> {
    const link = await this.links.create(tx, { userId, purpose: 'verify_email', email });
    await this.outbox.add(tx, { userId, kind: 'verify_email', recipient: email, language, linkId: link.id });
  }

  /** Sends another link. @throws CONFLICT without an address or for a verified one, RATE_LIMITED. */
  async repeat(userId: number, language: Language): Promise<void> {
    const { email, emailVerifiedAt } = await this.accounts.require(userId);
    if (email === null) throw new AppError('CONFLICT', 'The account has no email address');
    if (emailVerifiedAt !== null) throw new AppError('CONFLICT', 'The email address is verified already');
    const { hits, remainingMs } = await this.counter.hit(`verify ${userId}`, HOUR_MS);
    if (hits > MAILS_PER_HOUR) {
      throw new AppError('RATE_LIMITED', 'Too many mails were sent to this address', {
        retryAfterSeconds: remainingMs / 1_000,
        level: 'info',
        limit: 'mails',
      });
    }
    await this.unitOfWork.run((tx) => this.begin(tx, userId, email, language));
  }

  /** @throws INVALID_ARGUMENT for a link that cannot be used, or no longer. */
  async confirm(token: string): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const link = await this.links.take(tx, token, 'verify_email');
      if (link === undefined) throw invalidLink();
      const verified = await rowsOf(
        tx,
        `UPDATE site_accounts SET email_verified_at = now(), updated_at = now()
         WHERE id = $1 AND email = $2 AND disabled_at IS NULL RETURNING id`,
        [link.userId, link.email],
      );
      if (verified.length === 0) throw invalidLink();
      await recordEvent(tx, { type: 'user.email_verified', userId: link.userId });
    });
  }
}

/** Says the same of a link that was used, has expired, or never was one. */
export function invalidLink(): AppError {
  const message = 'is not valid, has expired or was used before';
  return new AppError('INVALID_ARGUMENT', `token: ${message}`, { details: [{ field: 'token', message }] });
}
