import { AuditApiModule, AuditModule as AuditLogModule } from '@gatehouse/audit';
import { AuthModule } from '@gatehouse/auth';
import type { WorkersMode } from '@gatehouse/jobs';
import { loadSecretKeys } from '@gatehouse/persistence';
import { remoteProxyClients, ThrottlingModule } from '@gatehouse/platform';
import { Module, type DynamicModule } from '@nestjs/common';
import { ApplicationsModule } from './applications/applications.module.js';
import { CheckInModule } from './check-in/check-in.module.js';
import { AuditModule } from './audit/audit.module.js';
import { SiteAuditRules } from './audit/site-audit-rules.js';
import { CredentialsModule } from './credentials/credentials.module.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { LimitsModule } from './limits/limits.module.js';
import { LinksModule } from './links/links.module.js';
import { MailDeliveryModule } from './mail-delivery/mail-delivery.module.js';
import { OAuthModule } from './oauth/oauth.module.js';
import { OpenApiModule } from './open-api/open-api.module.js';
import { PagesModule } from './pages/pages.module.js';
import { PointsModule } from './points/points.module.js';
import { ProfileModule } from './profile/profile.module.js';
import { SERVICE } from './service.js';
import type { ResourceSharingSettings } from './settings.js';
import { RetentionModule } from './retention/retention.module.js';
import { RiskModule } from './risk/risk.module.js';
import { SharesModule } from './shares/shares.module.js';
import { SESSION_COOKIE, SESSION_LIFETIME } from './site/session-settings.js';
import { SiteUsers } from './site/site-users.js';
import { SiteModule } from './site/site.module.js';
import { SubscriptionsModule } from './subscriptions/subscriptions.module.js';
import { TestModeModule } from './test-mode/test-mode.module.js';
import { UnlocksModule } from './unlocks/unlocks.module.js';
import { WebhookJobsModule } from './webhooks/webhook-jobs.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';
import { WeeklyFreeModule } from './weekly-free/weekly-free.module.js';

@Module({})
export class AppModule {
  static forRoot(settings: Readonly<ResourceSharingSettings>): DynamicModule {
    const secretKeys = keysOf(settings);
    return {
      module: AppModule,
      imports: [
        ...foundation(settings, secretKeys, settings.workers),
        ThrottlingModule.perMinute(settings.apiRateLimit),
        AuthModule.forRoot({
          service: SERVICE.name,
          imports: [SiteModule],
          sessions: { cookie: SESSION_COOKIE, secure: settings.secureCookies, users: SiteUsers, ...SESSION_LIFETIME },
        }),
        AuditApiModule.withoutRoutes(SiteAuditRules),
        AuditModule,
        CredentialsModule,
        TestModeModule,
        OpenApiModule,
        LimitsModule,
        RiskModule,
        ApplicationsModule,
        OAuthModule,
        IdempotencyModule,
        PointsModule,
        LinksModule,
        SharesModule,
        UnlocksModule,
        SubscriptionsModule,
        WebhooksModule,
        CheckInModule,
        WeeklyFreeModule,
        ProfileModule,
        SiteModule,
        PagesModule,
      ],
      providers: [remoteProxyClients(settings, secretKeys)],
    };
  }
}

/** worker.ts: the jobs and nothing else. */
@Module({})
export class WorkerModule {
  static forRoot(settings: Readonly<ResourceSharingSettings>): DynamicModule {
    return { module: WorkerModule, imports: foundation(settings, keysOf(settings), 'only') };
  }
}

function keysOf({ home, secretKey: envValue }: Readonly<ResourceSharingSettings>): readonly Buffer[] {
  return loadSecretKeys({ home, envValue });
}

/** Everything that the service and its worker share, including job handlers. */
function foundation(
  settings: Readonly<ResourceSharingSettings>,
  secretKeys: readonly Buffer[],
  workers: WorkersMode,
): NonNullable<DynamicModule['imports']> {
  return [
    ...SERVICE.foundation(settings, workers),
    AuditLogModule.forRoot({ service: SERVICE.name, settings, secretKeys }),
    RetentionModule,
    MailDeliveryModule,
    WebhookJobsModule,
  ];
}
