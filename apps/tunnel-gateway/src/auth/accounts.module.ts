import { Module } from '@nestjs/common';
import { UsersModule } from '../users/users.module.js';
import { AuthController } from './auth.controller.js';
import { Credentials } from './credentials.js';
import { FirstSetup } from './first-setup.js';
import { Login } from './login.js';
import { LoginLog } from './login-log.js';
import { Logins } from './logins.js';
import { OwnAccountController } from './own-account.controller.js';
import { OwnFactor } from './own-factor.js';
import { OwnPreferences } from './own-preferences.js';
import { PasswordChange } from './password-change.js';

/** Logins, and users' own accounts. */
@Module({
  imports: [UsersModule],
  controllers: [AuthController, OwnAccountController],
  providers: [Credentials, LoginLog, Logins, Login, FirstSetup, PasswordChange, OwnFactor, OwnPreferences],
  exports: [Credentials, UsersModule],
})
export class AccountsModule {}
