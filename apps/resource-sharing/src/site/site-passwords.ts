import { LoginThrottle, PasswordChecks } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { SiteAccount } from './site-account.entity.js';
import { SiteAccounts } from './site-accounts.service.js';

/** Checks the passwords of site accounts. */
@Injectable()
export class SitePasswords extends PasswordChecks<SiteAccount> {
  constructor(dataSource: DataSource, throttle: LoginThrottle, accounts: SiteAccounts) {
    super(dataSource, throttle, {
      table: 'site_accounts',
      findByName: (name) => accounts.findByName(name),
      findById: (id) => accounts.findActive(id),
      nameOf: ({ username }) => username,
      refusal: () => new AppError('LOGIN_FAILED', 'The current password is wrong'),
    });
  }
}
