import { LoginThrottle, PasswordChecks, type GivenPassword } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SecondFactor } from './second-factor.js';
import type { SiteAccount } from './site-account.entity.js';
import { SiteAccounts } from './site-accounts.service.js';

interface GivenCredentials extends GivenPassword {
  /** Of the second factor. */
  readonly code?: string | undefined;
}

/** The password of the account was right, and its second factor asks for a code. */
export class CodeNeeded extends AppError {
  readonly account: SiteAccount;

  constructor(account: SiteAccount) {
    const message = 'a code from the authenticator app is required';
    super('TOTP_REQUIRED', `code: ${message}`, { details: [{ field: 'code', message }] });
    this.account = account;
  }
}

/** Checks passwords and second factors of site accounts. Each check throws CodeNeeded, and LOCKED after too many wrong codes. */
@Injectable()
export class SitePasswords extends PasswordChecks<SiteAccount, GivenCredentials> {
  constructor(dataSource: DataSource, throttle: LoginThrottle, accounts: SiteAccounts, factor: SecondFactor) {
    super(dataSource, throttle, {
      table: 'site_accounts',
      findByName: (name) => accounts.findByName(name),
      findById: (id) => accounts.findActive(id),
      nameOf: ({ username }) => username,
      acceptsAlso: async (account, { code }) => {
        const outcome = await factor.check(account.id, code);
        // Thrown, because a success would reset the count of wrong codes.
        if (outcome === 'missing') throw new CodeNeeded(account);
        return outcome === 'accepted';
      },
      refusal: ({ hasSecondFactor }) =>
        new AppError(
          'LOGIN_FAILED',
          hasSecondFactor ? 'The current password or the code is wrong' : 'The current password is wrong',
        ),
    });
  }
}
