import { hashPassword, LoginThrottle, verifyPassword } from '@gatehouse/auth';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { QueryFailedError, type EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { AccountEnd } from './account-end.js';
import type { SiteAccount } from './site-account.entity.js';
import { SiteAccounts } from './site-accounts.service.js';
import { assertPasswordApart } from './site-registration.js';
import { SiteSessions } from './site-sessions.js';
import type { PasswordChangeBody, ProfileChangeBody } from './site.dto.js';

/** What the owner of an account changes about it. */
@Injectable()
export class AccountChanges {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: SiteAccounts,
    private readonly sessions: SiteSessions,
    private readonly throttle: LoginThrottle,
    private readonly end: AccountEnd,
  ) {}

  /**
   * Ends every session and every authorization of the account and logs this browser in anew. Raises LOGIN_FAILED for a
   * wrong present password, RATE_LIMITED for too many of them, INVALID_ARGUMENT.
   */
  async changePassword(userId: number, body: PasswordChangeBody, request: Request, response: Response): Promise<void> {
    const account = await this.confirmed(userId, body.current_password, request);
    assertPasswordApart(account.username, body.new_password, 'new_password');
    const passwordHash = await hashPassword(body.new_password);
    await this.unitOfWork.run(async (tx) => {
      await tx.query('UPDATE site_accounts SET password_hash = $2, updated_at = now() WHERE id = $1', [
        userId,
        passwordHash,
      ]);
      await recordEvent(tx, { type: 'user.password_changed', userId, ip: request.ip });
      await this.sessions.endAllIn(tx, userId, 'password_changed');
    });
    await this.sessions.open(userId, request, response);
  }

  /** What is absent stays; null clears. Raises CONFLICT for an email address that is taken. */
  async updateProfile(userId: number, change: ProfileChangeBody): Promise<SiteAccount> {
    const { nickname, email, avatar_url: avatarUrl } = change;
    await takenAsConflict(
      this.unitOfWork.run(async (tx) => {
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
      }),
    );
    return this.accounts.require(userId);
  }

  /** Deletes the account for good. Raises LOGIN_FAILED, RATE_LIMITED, and CONFLICT for the last administrator. */
  async delete(userId: number, password: string, request: Request, response: Response): Promise<void> {
    await this.confirmed(userId, password, request);
    await this.unitOfWork.run((tx: EntityManager) => this.end.delete(tx, userId, request.ip));
    await this.sessions.close(request, response);
  }

  /** The account, once its password was given again: an open session alone is not enough for what cannot be undone. */
  private async confirmed(userId: number, password: string, request: Request): Promise<SiteAccount> {
    const account = await this.accounts.require(userId);
    const matches = await this.throttle.attempt(request.ip ?? '', account.username, async () =>
      (await verifyPassword(password, account.passwordHash)) ? account : undefined,
    );
    if (matches === undefined) throw new AppError('LOGIN_FAILED', 'The present password is wrong');
    return matches;
  }
}

async function takenAsConflict(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const { constraint } = error instanceof QueryFailedError ? (error.driverError as { constraint?: string }) : {};
    if (constraint !== 'site_accounts_email_key') throw error;
    throw new AppError('CONFLICT', 'This email address cannot be used', { cause: error });
  }
}
