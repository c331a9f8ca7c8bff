import { Module } from '@nestjs/common';
import { ApplicationsModule } from '../applications/applications.module.js';
import { SharesModule } from '../shares/shares.module.js';
import { SiteModule } from '../site/site.module.js';
import { TitlesModule } from '../titles/titles.module.js';
import { DemoAccounts } from './demo-accounts.js';
import { DemoClient } from './demo-client.js';
import { DemoLibrary } from './demo-library.js';
import { DemoSeed } from './demo-seed.js';

@Module({
  imports: [ApplicationsModule, SharesModule, SiteModule, TitlesModule],
  providers: [DemoAccounts, DemoClient, DemoLibrary, DemoSeed],
  exports: [DemoSeed],
})
export class DemoModule {}
