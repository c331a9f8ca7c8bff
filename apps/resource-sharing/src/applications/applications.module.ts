import { Module } from '@nestjs/common';
import { SiteModule } from '../site/site.module.js';
import { ApplicationSecrets } from './application-secrets.service.js';
import { ApplicationsController } from './applications.controller.js';
import { Applications } from './applications.service.js';
import { GrantsController } from './grants.controller.js';
import { KeysController } from './keys.controller.js';
import { PersonalKeys } from './personal-keys.service.js';
import { OwnerConfirmation } from './owner-confirmation.js';
import { TestKeysController } from './test-keys.controller.js';
import { TestKeys } from './test-keys.service.js';
import { Registration } from './registration.js';

/** Applications, their secrets, personal keys and authorized applications, for the developer pages. */
@Module({
  imports: [SiteModule],
  controllers: [ApplicationsController, TestKeysController, KeysController, GrantsController],
  providers: [Applications, ApplicationSecrets, TestKeys, PersonalKeys, Registration, OwnerConfirmation],
  exports: [Applications, ApplicationSecrets, TestKeys, PersonalKeys, Registration, OwnerConfirmation],
})
export class ApplicationsModule {}
