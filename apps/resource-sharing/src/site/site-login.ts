import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { PendingLogins, type PendingLogin } from './pending-logins.js';
import type { SiteAccount } from './site-account.entity.js';
import { toSiteAccountView, type SiteAccountView } from './site-account.view.js';
import { SiteAccounts } from './site-accounts.service.js';
import { SitePasswords } from './site-passwords.js';
import { SiteSessions } from './site-sessions.js';
import type { SiteLoginBody } from './site.dto.js';

/** Logging in and out of the site with a session cookie. */
@Injectable()
export class SiteLogin {
  constructor(
    private readonly accounts: SiteAccounts,
    private readonly passwords: SitePasswords,
    private readonly sessions: SiteSessions,
    private readonly pending: PendingLogins,
  ) {}

  /**
   * @throws LOGIN_FAILED for wrong credentials, also for those that were right a moment ago, CodeNeeded if the account has
   * a second factor and no code was sent, and LOCKED and RATE_LIMITED for too many attempts.
   */
  async logIn(
    { username, password, code }: SiteLoginBody,
    request: Request,
    response: Response,
  ): Promise<SiteAccountView> {
    const account = await this.passwords.login(username, { password, code }, request.ip ?? '');
    if (account === undefined) throw new AppError('LOGIN_FAILED');
    await this.sessions.open(account, request, response);
    return toSiteAccountView(account);
  }

  /** What the page for the code sends back; complete() takes it. */
  ticketFor(account: SiteAccount): string {
    return this.pending.ticket(account);
  }

  /** The login that a ticket stands for; undefined if it took too long. */
  pendingLogin(ticket: string): PendingLogin | undefined {
    return this.pending.open(ticket);
  }

  /** Logs in with the code after the password. @throws LOGIN_FAILED for a wrong code, LOCKED, RATE_LIMITED */
  async complete(
    { username, find }: PendingLogin,
    code: string,
    request: Request,
    response: Response,
  ): Promise<SiteAccount> {
    const account = await this.passwords.complete(username, find, { code }, request.ip ?? '');
    if (account === undefined) throw wrongCode();
    await this.sessions.open(account, request, response);
    return account;
  }

  async logOut(request: Request, response: Response): Promise<void> {
    await this.sessions.close(request, response);
  }

  /** @throws UNAUTHORIZED if the account is gone. */
  async account(userId: number | null): Promise<SiteAccountView> {
    const account = userId === null ? null : await this.accounts.findActive(userId);
    if (account === null) throw new AppError('UNAUTHORIZED');
    return toSiteAccountView(account);
  }
}

function wrongCode(): AppError {
  const message = 'is not right, or was used before';
  return new AppError('LOGIN_FAILED', `code: ${message}`, { details: [{ field: 'code', message }] });
}
