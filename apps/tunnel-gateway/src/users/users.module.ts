import { Module } from '@nestjs/common';
import { FirstAdministrator } from './first-administrator.js';
import { SecondFactor } from './second-factor.js';
import { SetupTokens } from './setup-tokens.js';
import { Users } from './users.service.js';

/** Users as needed for logins; the guard of every route depends on it. */
@Module({
  providers: [Users, SecondFactor, SetupTokens, FirstAdministrator],
  exports: [Users, SecondFactor, SetupTokens],
})
export class UsersModule {}
