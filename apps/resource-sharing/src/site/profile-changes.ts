import type { Language } from '@gatehouse/i18n';
import { pgPool, UnitOfWork } from '@gatehouse/persistence';
import { AppError, PostgresWindowCounter } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { oneRow } from '../data/rows-of.js';
import { AccountLinks } from '../mails/account-links.js';
import { MailOutbox } from '../mails/mail-outbox.js';
import { EmailVerification } from './email-verification.js';
import type { SiteAccount } from './site-account.entity.js';
import { SiteAccounts } from './site-accounts.service.js';
import type { ProfileChangeBody } from './site.dto.js';

const HOUR_MS = 3_600_000;
const PROFILE_CHANGES_PER_HOUR = 30;

interface Former {
  readonly nickname: string;
  readonly email: string | null;
  readonly email_verified_at: Date | null;
  readonly avatar_url: string | null;
}

/** The profile of an account. */
@Injectable()
export class ProfileChanges {
  private readonly counter: PostgresWindowCounter;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: SiteAccounts,
    private readonly verification: EmailVerification,
    private readonly links: AccountLinks,
    private readonly outbox: MailOutbox,
    dataSource: DataSource,
  ) {
    this.counter = new PostgresWindowCounter(pgPool(dataSource));
  }

  /** Absent fields are not changed; null clears. @throws RATE_LIMITED */
  async update(userId: number, change: ProfileChangeBody, language: Language = 'en'): Promise<SiteAccount> {
    const { nickname, email, avatar_url: avatarUrl } = change;
    await this.count(userId);
    await this.unitOfWork.run(async (tx) => {
      const former = await oneRow<Former>(
        tx,
        'SELECT nickname, email, email_verified_at, avatar_url FROM site_accounts WHERE id = $1 FOR NO KEY UPDATE',
        [userId],
      );
      await tx.query(
        `UPDATE site_accounts SET nickname = coalesce($2, nickname),
             email = CASE WHEN $3 THEN $4 ELSE email END,
             email_verified_at = CASE WHEN $3 AND $4 IS DISTINCT FROM email THEN NULL ELSE email_verified_at END,
             avatar_url = CASE WHEN $5 THEN $6 ELSE avatar_url END, updated_at = now() WHERE id = $1`,
        [
          userId,
          nickname?.trim() ?? null,
          email !== undefined,
          email ?? null,
          avatarUrl !== undefined,
          avatarUrl ?? null,
        ],
      );
      const given = { nickname: nickname?.trim(), email, avatar_url: avatarUrl };
      const fields = Object.entries(given).flatMap(([name, value]) =>
        value === undefined || value === former[name as keyof typeof given] ? [] : [name],
      );
      await recordEvent(tx, { type: 'user.profile_changed', userId, details: { fields } });
      if (email !== undefined && email !== former.email) await this.moveEmail(tx, userId, former, email, language);
    });
    return this.accounts.require(userId);
  }

  /** Nothing that was sent to the former address works any longer, and its owner hears of it. */
  private async moveEmail(
    tx: EntityManager,
    userId: number,
    former: Former,
    email: string | null,
    language: Language,
  ): Promise<void> {
    await this.links.endAllOf(tx, userId, ['verify_email', 'reset_password']);
    if (former.email !== null && former.email_verified_at !== null) {
      await this.outbox.add(tx, { userId, kind: 'email_changed', recipient: former.email, language });
    }
    if (email !== null) await this.verification.begin(tx, userId, email, language);
  }

  private async count(userId: number): Promise<void> {
    const { hits, remainingMs } = await this.counter.hit(`profile ${userId}`, HOUR_MS);
    if (hits <= PROFILE_CHANGES_PER_HOUR) return;
    throw new AppError('RATE_LIMITED', 'The profile was changed too often', {
      retryAfterSeconds: remainingMs / 1_000,
      level: 'info',
      limit: 'profile_changes',
    });
  }
}
