import { Module } from '@nestjs/common';
import { AccountChanges } from './account-changes.js';
import { AccountEnd } from './account-end.js';
import { AccountController } from './account.controller.js';
import { DelegatedAccess } from './delegated-access.js';
import { FirstAdministrator } from './first-administrator.js';
import { PasswordConfirmation } from './password-confirmation.js';
import { ProfileChanges } from './profile-changes.js';
import { SiteAccounts } from './site-accounts.service.js';
import { SiteController } from './site.controller.js';
import { SiteLogin } from './site-login.js';
import { SitePasswords } from './site-passwords.js';
import { SiteRegistration } from './site-registration.js';
import { SiteSessions } from './site-sessions.js';

@Module({
  controllers: [SiteController, AccountController],
  providers: [
    SitePasswords,
    PasswordConfirmation,
    SiteLogin,
    SiteAccounts,
    SiteSessions,
    SiteRegistration,
    AccountChanges,
    ProfileChanges,
    DelegatedAccess,
    AccountEnd,
    FirstAdministrator,
  ],
  exports: [
    PasswordConfirmation,
    SiteLogin,
    SiteAccounts,
    SiteSessions,
    SiteRegistration,
    AccountChanges,
    ProfileChanges,
    AccountEnd,
  ],
})
export class SiteModule {}
