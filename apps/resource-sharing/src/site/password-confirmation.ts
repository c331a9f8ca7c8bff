import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { EntityManager } from 'typeorm';
import type { SiteAccount } from './site-account.entity.js';
import { holdConfirmed } from './site-accounts.service.js';
import { SitePasswords } from './site-passwords.js';

/** What shows that the owner of an account is present. */
export interface Proof {
  readonly password: string | undefined;
  /** Of the second factor, if the account has one. */
  readonly code?: string | undefined;
}

/** The proof in a body of the API. */
export function proofOf(body: { current_password?: string; code?: string } | undefined): Proof {
  return { password: body?.current_password, code: body?.code };
}

/** Asks for the password again: an open session alone is not enough for actions that outlive it or cannot be undone. */
@Injectable()
export class PasswordConfirmation {
  constructor(
    private readonly passwords: SitePasswords,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Runs `work` in a transaction during which the account keeps the password that was given.
   * @throws the errors of confirm().
   */
  async during<T>(userId: number, proof: Proof, request: Request, work: (tx: EntityManager) => Promise<T>): Promise<T> {
    const account = await this.confirm(userId, proof, request);
    return this.unitOfWork.run(async (tx) => {
      await holdConfirmed(tx, account);
      return work(tx);
    });
  }

  /**
   * The account, once its password was given again.
   * @throws INVALID_ARGUMENT without one, LOGIN_FAILED for a wrong one, TOTP_REQUIRED without a code that is needed, LOCKED
   * and RATE_LIMITED for too many attempts, UNAUTHORIZED if the account is gone.
   */
  async confirm(userId: number, { password, code }: Proof, request: Request): Promise<SiteAccount> {
    if (password === undefined || password === '') throw missing();
    return this.passwords.confirm(userId, { password, code }, request.ip ?? '');
  }
}

function missing(): AppError {
  const message = 'is required for this change';
  return new AppError('INVALID_ARGUMENT', `current_password: ${message}`, {
    details: [{ field: 'current_password', message }],
  });
}
