import { Module } from '@nestjs/common';
import { AccountsModule } from '../auth/accounts.module.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysService } from './api-keys.service.js';

@Module({ imports: [AccountsModule], controllers: [ApiKeysController], providers: [ApiKeysService] })
export class ApiKeysModule {}
