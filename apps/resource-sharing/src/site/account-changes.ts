import { hashPassword } from '@gatehouse/auth';
import { pgPool, UnitOfWork } from '@gatehouse/persistence';
import { AppError, PostgresWindowCounter } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DataSource, type EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { AccountEnd } from './account-end.js';
import { PasswordConfirmation } from './password-confirmation.js';
import type { SiteAccount } from './site-account.entity.js';
import { SiteAccounts } from './site-accounts.service.js';
import { assertPasswordApart } from './site-registration.js';
import { SiteSessions } from './site-sessions.js';
import type { PasswordChangeBody, ProfileChangeBody } from './site.dto.js';

const HOUR_MS = 3_600_000;
const PROFILE_CHANGES_PER_HOUR = 30;

/** What the owner of an account changes about it. */
@Injectable()
export class AccountChanges {
  private readonly counter: PostgresWindowCounter;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: SiteAccounts,
    private readonly sessions: SiteSessions,
    private readonly password: PasswordConfirmation,
    private readonly end: AccountEnd,
    dataSource: DataSource,
  ) {
    this.counter = new PostgresWindowCounter(pgPool(dataSource));
  }

  /**
   * Ends every session and every authorization of the account, its keys too unless the body says otherwise, and logs this
   * browser in anew. Raises LOGIN_FAILED for a wrong present password, RATE_LIMITED for too many of them, INVALID_ARGUMENT.
   */
  async changePassword(userId: number, body: PasswordChangeBody, request: Request, response: Response): Promise<void> {
    const account = await this.password.confirm(userId, body.current_password, request);
    assertPasswordApart(account.username, body.new_password, 'new_password');
    const passwordHash = await hashPassword(body.new_password);
    await this.unitOfWork.run(async (tx) => {
      await tx.query('UPDATE site_accounts SET password_hash = $2, updated_at = now() WHERE id = $1', [
        userId,
        passwordHash,
      ]);
      await recordEvent(tx, { type: 'user.password_changed', userId, ip: request.ip });
      await this.sessions.endAllIn(tx, userId, 'password_changed', { keys: body.revoke_keys ?? true });
    });
    await this.sessions.open(userId, request, response);
  }

  /** What is absent stays; null clears. Raises RATE_LIMITED. */
  async updateProfile(userId: number, change: ProfileChangeBody): Promise<SiteAccount> {
    const { nickname, email, avatar_url: avatarUrl } = change;
    await this.countProfileChange(userId);
    await this.unitOfWork.run(async (tx) => {
      await tx.query(
        `UPDATE site_accounts SET nickname = coalesce($2, nickname),
             email = CASE WHEN $3 THEN $4 ELSE email END,
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
      const fields = Object.entries(change).flatMap(([name, value]) => (value === undefined ? [] : [name]));
      await recordEvent(tx, { type: 'user.profile_changed', userId, details: { fields } });
    });
    return this.accounts.require(userId);
  }

  /** Deletes the account for good. Raises LOGIN_FAILED, RATE_LIMITED, and CONFLICT for the last administrator. */
  async delete(userId: number, password: string, request: Request, response: Response): Promise<void> {
    await this.password.confirm(userId, password, request);
    await this.unitOfWork.run((tx: EntityManager) => this.end.delete(tx, userId, request.ip));
    await this.sessions.close(request, response);
  }

  private async countProfileChange(userId: number): Promise<void> {
    const { hits, remainingMs } = await this.counter.hit(`profile ${userId}`, HOUR_MS);
    if (hits <= PROFILE_CHANGES_PER_HOUR) return;
    throw new AppError('RATE_LIMITED', 'The profile was changed too often', {
      retryAfterSeconds: remainingMs / 1_000,
      level: 'info',
    });
  }
}
