import { Module } from '@nestjs/common';
import { FirstAdministrator } from './first-administrator.js';
import { SiteAccounts } from './site-accounts.service.js';
import { SiteController } from './site.controller.js';
import { SiteLogin } from './site-login.js';

@Module({
  controllers: [SiteController],
  providers: [SiteLogin, SiteAccounts, FirstAdministrator],
  exports: [SiteAccounts],
})
export class SiteModule {}
