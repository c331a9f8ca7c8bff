import { Module } from '@nestjs/common';
import { ApplicationSecrets } from './application-secrets.service.js';
import { ApplicationsController } from './applications.controller.js';
import { Applications } from './applications.service.js';
import { GrantsController } from './grants.controller.js';
import { KeysController } from './keys.controller.js';
import { PersonalKeys } from './personal-keys.service.js';
import { Registration } from './registration.js';

/** Applications, their secrets, personal keys and authorised applications, for the developer pages. */
@Module({
  controllers: [ApplicationsController, KeysController, GrantsController],
  providers: [Applications, ApplicationSecrets, PersonalKeys, Registration],
  exports: [Applications, ApplicationSecrets, PersonalKeys, Registration],
})
export class ApplicationsModule {}
