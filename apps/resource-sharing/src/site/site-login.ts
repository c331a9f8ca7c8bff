import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
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
  ) {}

  /**
   * @throws LOGIN_FAILED for wrong credentials, also for those that were right a moment ago, and RATE_LIMITED for too
   * many attempts.
   */
  async logIn({ username, password }: SiteLoginBody, request: Request, response: Response): Promise<SiteAccountView> {
    const account = await this.passwords.login(username, { password }, request.ip ?? '');
    if (account === undefined) throw new AppError('LOGIN_FAILED');
    await this.sessions.open(account, request, response);
    return toSiteAccountView(account);
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
