import { acceptedLanguage, type Language } from '@gatehouse/i18n';
import { pgPool } from '@gatehouse/persistence';
import { AppError, networkOf, PostgresWindowCounter } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DataSource } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { ResourceSharingSettings } from '../settings.js';
import { EmailVerification } from './email-verification.js';
import type { SiteAccount } from './site-account.entity.js';
import { toSiteAccountView, type SiteAccountView } from './site-account.view.js';
import { SiteAccounts } from './site-accounts.service.js';
import { SiteSessions } from './site-sessions.js';
import type { RegistrationBody } from './site.dto.js';

const HOUR_MS = 3_600_000;

/** Creates accounts for people who register themselves. */
@Injectable()
export class SiteRegistration {
  private readonly counter: PostgresWindowCounter;

  constructor(
    private readonly accounts: SiteAccounts,
    private readonly sessions: SiteSessions,
    private readonly settings: ResourceSharingSettings,
    private readonly verification: EmailVerification,
    dataSource: DataSource,
  ) {
    this.counter = new PostgresWindowCounter(pgPool(dataSource));
  }

  get isOpen(): boolean {
    return this.settings.siteRegistrationsPerHour > 0;
  }

  /**
   * Creates a member and logs them in.
   * @throws FORBIDDEN while registration is closed, RATE_LIMITED for too many accounts from one address,
   * INVALID_ARGUMENT for a password that contains the name, CONFLICT for a name that is taken.
   */
  async register(body: RegistrationBody, request: Request, response: Response): Promise<SiteAccountView> {
    if (!this.isOpen) throw new AppError('FORBIDDEN', 'Registration is closed: ask the administrator for an account');
    assertPasswordApart(body.username, body.password, 'password');
    await this.count(request.ip ?? '');
    const language = acceptedLanguage(request.headers['accept-language']);
    const account = await this.create(body, request.ip, language);
    await this.sessions.open(account, request, response);
    return toSiteAccountView(account);
  }

  private async create(
    { username, email, password }: RegistrationBody,
    ip: string | undefined,
    language: Language,
  ): Promise<SiteAccount> {
    const account = await this.accounts.register({ username, email: email ?? null, password }, async (tx, userId) => {
      await recordEvent(tx, { type: 'user.registered', userId, ip });
      if (email != null) await this.verification.begin(tx, userId, email, language);
    });
    if (account === undefined) throw new AppError('CONFLICT', 'This user name is taken');
    return account;
  }

  private async count(address: string): Promise<void> {
    const { hits, remainingMs } = await this.counter.hit(`register ${networkOf(address)}`, HOUR_MS);
    if (hits <= this.settings.siteRegistrationsPerHour) return;
    throw new AppError('RATE_LIMITED', 'Too many accounts were registered from this address', {
      retryAfterSeconds: remainingMs / 1_000,
      level: 'info',
      limit: 'registrations',
    });
  }
}

/** @throws INVALID_ARGUMENT for a password that is, or contains, the user's name. */
export function assertPasswordApart(username: string, password: string, field: string): void {
  if (!password.toLowerCase().includes(username.toLowerCase())) return;
  const message = 'must not contain the user name';
  throw new AppError('INVALID_ARGUMENT', `${field}: ${message}`, { details: [{ field, message }] });
}
