import { SECRET_BOX } from '@gatehouse/persistence';
import { AuthModule, IdempotencyModule } from '@gatehouse/auth';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { Administrator } from './administrator.js';
import { AdministratorPreferences } from './administrator-preferences.js';
import { ApiKeysController } from './api-keys.controller.js';
import { ApiKeysService } from './api-keys.service.js';
import { AuthController } from './auth.controller.js';
import { ChangePassword } from './change-password.js';
import { LoginService } from './login.service.js';
import { OpenAccess } from './open-access.js';
import { OpenAccessModule } from './open-access.module.js';
import { SERVICE_NAME } from '../service-version.js';

export const API_KEY_PREFIX = 'gpk_';

/** Decides who may call the API: the guard of every route, logins and API keys. */
@Module({})
export class AccessModule {
  /** @param secretKeys 32 bytes each, newest first. They seal the key that signs tokens. */
  static forRoot(secretKeys: readonly Buffer[]): DynamicModule {
    return {
      module: AccessModule,
      imports: [
        IdempotencyModule.forRoot({ box: SECRET_BOX }),
        OpenAccessModule,
        AuthModule.forRoot({ service: SERVICE_NAME, secretKeys, apiKeyPrefix: API_KEY_PREFIX, policy: OpenAccess }),
      ],
      controllers: [AuthController, ApiKeysController],
      providers: [Administrator, LoginService, ApiKeysService, ChangePassword, AdministratorPreferences],
    };
  }
}
