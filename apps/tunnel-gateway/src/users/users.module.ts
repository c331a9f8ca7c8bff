import { Module } from '@nestjs/common';
import { FirstAdministrator } from './first-administrator.js';
import { Users } from './users.service.js';

@Module({ providers: [Users, FirstAdministrator], exports: [Users] })
export class UsersModule {}
