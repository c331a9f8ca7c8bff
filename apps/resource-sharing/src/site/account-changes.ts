import { hashPassword } from '@gatehouse/auth';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { AccountEnd } from './account-end.js';
import { PasswordConfirmation, proofOf, type Proof } from './password-confirmation.js';
import { holdConfirmed } from './site-accounts.service.js';
import { assertPasswordApart } from './site-registration.js';
import { SiteSessions } from './site-sessions.js';
import type { PasswordChangeBody } from './site.dto.js';

/** Actions of an account's owner that need the password again. */
@Injectable()
export class AccountChanges {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly sessions: SiteSessions,
    private readonly password: PasswordConfirmation,
    private readonly end: AccountEnd,
  ) {}

  /**
   * Ends every session and every authorization of the account, its keys too unless the body says otherwise, and logs
   * this browser in again.
   * @throws the errors of PasswordConfirmation, INVALID_ARGUMENT.
   */
  async changePassword(userId: number, body: PasswordChangeBody, request: Request, response: Response): Promise<void> {
    const account = await this.password.confirm(userId, proofOf(body), request);
    assertPasswordApart(account.username, body.new_password, 'new_password');
    const passwordHash = await hashPassword(body.new_password);
    await this.unitOfWork.run(async (tx) => {
      await holdConfirmed(tx, account);
      await tx.query('UPDATE site_accounts SET password_hash = $2, updated_at = now() WHERE id = $1', [
        userId,
        passwordHash,
      ]);
      await recordEvent(tx, { type: 'user.password_changed', userId, ip: request.ip });
      await this.sessions.endAllIn(tx, userId, 'password_changed', { keys: body.revoke_keys ?? true });
    });
    await this.sessions.open({ id: userId, passwordHash }, request, response);
  }

  /** Deletes the account permanently. @throws the errors of PasswordConfirmation, and CONFLICT for the last administrator. */
  async delete(userId: number, proof: Proof, request: Request, response: Response): Promise<void> {
    await this.password.confirm(userId, proof, request);
    await this.unitOfWork.run((tx: EntityManager) => this.end.delete(tx, userId, request.ip));
    await this.sessions.close(request, response);
  }
}
