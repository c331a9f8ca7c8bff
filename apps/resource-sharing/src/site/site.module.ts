import { Module } from '@nestjs/common';
import { MailsModule } from '../mails/mails.module.js';
import { AccountChanges } from './account-changes.js';
import { AccountEnd } from './account-end.js';
import { AccountExport } from './account-export.js';
import { AccountController } from './account.controller.js';
import { DelegatedAccess } from './delegated-access.js';
import { EmailVerification } from './email-verification.js';
import { FirstAdministrator } from './first-administrator.js';
import { OwnFactor } from './own-factor.js';
import { PasswordConfirmation } from './password-confirmation.js';
import { PasswordReset } from './password-reset.js';
import { PendingLogins } from './pending-logins.js';
import { ProfileChanges } from './profile-changes.js';
import { RecoveryController } from './recovery.controller.js';
import { SecondFactorController } from './second-factor.controller.js';
import { SecondFactor } from './second-factor.js';
import { SiteAccounts } from './site-accounts.service.js';
import { SiteController } from './site.controller.js';
import { SiteLogin } from './site-login.js';
import { SitePasswords } from './site-passwords.js';
import { SiteRegistration } from './site-registration.js';
import { SiteSessions } from './site-sessions.js';

@Module({
  imports: [MailsModule],
  controllers: [SiteController, AccountController, RecoveryController, SecondFactorController],
  providers: [
    SecondFactor,
    OwnFactor,
    PendingLogins,
    SitePasswords,
    PasswordConfirmation,
    SiteLogin,
    SiteAccounts,
    SiteSessions,
    SiteRegistration,
    AccountChanges,
    ProfileChanges,
    AccountExport,
    EmailVerification,
    PasswordReset,
    DelegatedAccess,
    AccountEnd,
    FirstAdministrator,
  ],
  exports: [
    SecondFactor,
    OwnFactor,
    PasswordConfirmation,
    SiteLogin,
    SiteAccounts,
    SiteSessions,
    SiteRegistration,
    AccountChanges,
    ProfileChanges,
    AccountExport,
    EmailVerification,
    PasswordReset,
    AccountEnd,
  ],
})
export class SiteModule {}
