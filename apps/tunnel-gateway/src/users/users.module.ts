import { Module } from '@nestjs/common';
import { FirstAdministrator } from './first-administrator.js';
import { SecondFactor } from './second-factor.js';
import { SetupTokens } from './setup-tokens.js';
import { Users } from './users.service.js';

/** Users as logins need them; it stands below the guard of every route. */
@Module({
  providers: [Users, SecondFactor, SetupTokens, FirstAdministrator],
  exports: [Users, SecondFactor, SetupTokens],
})
export class UsersModule {}
