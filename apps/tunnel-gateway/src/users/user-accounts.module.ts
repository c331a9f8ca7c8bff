import { Module } from '@nestjs/common';
import { UserAccounts } from './user-accounts.service.js';
import { UsersController } from './users.controller.js';
import { UsersModule } from './users.module.js';

@Module({ imports: [UsersModule], controllers: [UsersController], providers: [UserAccounts] })
export class UserAccountsModule {}
