import { Module } from '@nestjs/common';
import { Revocation } from './revocation.js';
import { UserAccounts } from './user-accounts.service.js';
import { UsersController } from './users.controller.js';
import { UsersModule } from './users.module.js';

@Module({ imports: [UsersModule], controllers: [UsersController], providers: [UserAccounts, Revocation] })
export class UserAccountsModule {}
