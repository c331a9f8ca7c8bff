import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { Language } from '@gatehouse/i18n';
import { rowsOf } from '../data/rows-of.js';
import { AccountLinks } from '../mails/account-links.js';
import { MailOutbox } from '../mails/mail-outbox.js';

/** One address may belong to several accounts. */
const MAX_ACCOUNTS = 5;

/**
 * Finds the accounts whose password a visitor wants to reset. It is a job and not a part of the request, so that the
 * answer takes the same time whether there is such an account or not.
 */
@Injectable()
export class ResetRequests {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly links: AccountLinks,
    private readonly outbox: MailOutbox,
  ) {}

  /** `account`: a username or an email address, in any letter case. Only verified addresses get a link. */
  async answer(account: string, language: Language): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const found = await rowsOf<{ id: number; email: string; language: Language | null }>(
        tx,
        `SELECT id, email, language FROM site_accounts
         WHERE (lower(username) = lower($1) OR lower(email) = lower($1))
           AND email_verified_at IS NOT NULL AND disabled_at IS NULL ORDER BY id LIMIT $2 FOR NO KEY UPDATE`,
        [account, MAX_ACCOUNTS],
      );
      for (const { id: userId, email, language: own } of found) {
        const link = await this.links.create(tx, { userId, purpose: 'reset_password', email });
        const mail = { userId, kind: 'reset_password', recipient: email, linkId: link.id } as const;
        await this.outbox.add(tx, { ...mail, language: own ?? language });
      }
    });
  }
}
