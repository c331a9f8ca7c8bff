import { loadSecretKeys } from '@gatehouse/persistence';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AdministrationModule } from '../administration/administration.module.js';
import { ApplicationsModule } from '../applications/applications.module.js';
import { CheckInModule } from '../check-in/check-in.module.js';
import { DemoModule } from '../demo/demo.module.js';
import { NoticesModule } from '../notices/notices.module.js';
import { OAuthModule } from '../oauth/oauth.module.js';
import { ResourceSharingSettings } from '../settings.js';
import { SharesModule } from '../shares/shares.module.js';
import { SiteModule } from '../site/site.module.js';
import { TitlesModule } from '../titles/titles.module.js';
import { UnlocksModule } from '../unlocks/unlocks.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { WeeklyFreeModule } from '../weekly-free/weekly-free.module.js';
import { AccountPageController } from './account/account.controller.js';
import { SecondFactorPageController } from './account/second-factor.controller.js';
import { AccountOverviews } from './account/account-overviews.js';
import { AdminApplicationPagesController } from './administration/applications.controller.js';
import { AdminAuditLogPagesController } from './administration/audit-log.controller.js';
import { AdminMailPagesController } from './administration/mails.controller.js';
import { AdminOperationPagesController } from './administration/operations.controller.js';
import { AdminQuotaPagesController } from './administration/quotas.controller.js';
import { AdminRiskPagesController } from './administration/risk.controller.js';
import { AdminSharePagesController } from './administration/shares.controller.js';
import { AdminUserPagesController } from './administration/users.controller.js';
import { AuthorizeController } from './authorize/authorize.controller.js';
import { ConsentMemory } from './authorize/consent-memory.js';
import { ApplicationForms } from './developer/application-forms.js';
import { ApplicationPages } from './developer/application-pages.js';
import { ApplicationUsage } from './developer/application-usage.js';
import { DeviceController } from './device/device.controller.js';
import { DeveloperController } from './developer/developer.controller.js';
import { TestModePagesController } from './developer/test-mode.controller.js';
import { WebhookPagesController } from './developer/webhooks.controller.js';
import { EntryController } from './entry/entry.controller.js';
import { RecoveryPagesController } from './entry/recovery.controller.js';
import { HomeController } from './home/home.controller.js';
import { MemberHome } from './home/member-home.js';
import { SharePageController } from './library/share.controller.js';
import { TitlesController } from './library/titles.controller.js';
import { AuthorizedController } from './own/authorized.controller.js';
import { KeysPageController } from './own/keys.controller.js';
import { NoticesPageController } from './own/notices.controller.js';
import { PointsController } from './own/points.controller.js';
import { SharesPageController } from './own/shares.controller.js';
import { UnlockedController } from './own/unlocked.controller.js';
import { FormTokens } from './parts/form-tokens.js';
import { OneTimeTexts } from './parts/one-time-texts.js';
import { PreferencesController } from './parts/preferences.controller.js';
import { Visitors } from './parts/visitors.js';

/** The pages that people see: plain HTML over the services of the other folders. */
@Module({
  imports: [
    AdministrationModule,
    ApplicationsModule,
    CheckInModule,
    DemoModule,
    NoticesModule,
    OAuthModule,
    SharesModule,
    SiteModule,
    TitlesModule,
    UnlocksModule,
    WebhooksModule,
    WeeklyFreeModule,
  ],
  controllers: [
    PreferencesController,
    HomeController,
    EntryController,
    RecoveryPagesController,
    AuthorizeController,
    DeviceController,
    AccountPageController,
    SecondFactorPageController,
    DeveloperController,
    WebhookPagesController,
    TestModePagesController,
    KeysPageController,
    AuthorizedController,
    SharesPageController,
    SharePageController,
    TitlesController,
    UnlockedController,
    PointsController,
    NoticesPageController,
    AdminApplicationPagesController,
    AdminUserPagesController,
    AdminSharePagesController,
    AdminRiskPagesController,
    AdminQuotaPagesController,
    AdminMailPagesController,
    AdminOperationPagesController,
    AdminAuditLogPagesController,
  ],
  providers: [
    {
      provide: FormTokens,
      inject: [ResourceSharingSettings],
      useFactory: ({ home, secretKey }: ResourceSharingSettings) =>
        new FormTokens(loadSecretKeys({ home, envValue: secretKey })),
    },
    {
      provide: OneTimeTexts,
      inject: [ResourceSharingSettings, DataSource],
      useFactory: ({ home, secretKey }: ResourceSharingSettings, dataSource: DataSource) =>
        new OneTimeTexts(loadSecretKeys({ home, envValue: secretKey }), dataSource),
    },
    Visitors,
    AccountOverviews,
    ConsentMemory,
    MemberHome,
    ApplicationForms,
    ApplicationPages,
    ApplicationUsage,
  ],
})
export class PagesModule {}
