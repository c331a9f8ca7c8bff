import { AuditApiModule, AuditModule } from '@gatehouse/audit';
import { ChangesModule } from '@gatehouse/changes';
import type { WorkersMode } from '@gatehouse/jobs';
import { loadSecretKeys } from '@gatehouse/persistence';
import { ThrottlingModule } from '@gatehouse/platform';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { ProxyAuditRules } from './audit/audit-rules.js';
import { AccessModule } from './auth/access.module.js';
import { OpenAccessModule } from './auth/open-access.module.js';
import { ConnectionsModule } from './connections/connections.module.js';
import { DashboardModule } from './dashboard/dashboard.module.js';
import { CountriesModule } from './countries/countries.module.js';
import { HealthJobsModule } from './health/health-jobs.module.js';
import { NodeHealthModule } from './health/health.module.js';
import { JobControlModule } from './jobs/job-control.module.js';
import { JobsApiModule } from './jobs/jobs-api.module.js';
import { GeoApiModule, GeoModule } from './geo-updates/geo.module.js';
import { KernelsModule } from './kernels/kernels.module.js';
import { NodesModule } from './nodes/nodes.module.js';
import { OutboundModule } from './outbound/outbound.module.js';
import { Preferences } from './preferences/preferences.service.js';
import { PreferencesModule } from './preferences/preferences.module.js';
import { ProfilesModule } from './profiles/profiles.module.js';
import { ProxyUsersModule } from './proxy-users/proxy-users.module.js';
import { PublicationsModule } from './publications/publications.module.js';
import { RetentionModule } from './retention/retention.module.js';
import { RuntimeLogsApiModule, RuntimeLogsModule } from './runtime-logs/runtime-logs.module.js';
import { RuleSetRefreshModule } from './rule-sets/rule-set-refresh.module.js';
import { RuleSetsModule } from './rule-sets/rule-sets.module.js';
import { RulesModule } from './rules/rules.module.js';
import type { ProxyGatewaySettings } from './settings.js';
import { RefreshModule } from './subscriptions/refresh.module.js';
import { SettingsApiModule } from './settings-api/settings-api.module.js';
import { SubscriptionsModule } from './subscriptions/subscriptions.module.js';
import { SystemModule } from './system/system.module.js';
import { TrafficModule } from './traffic/traffic.module.js';
import { SERVICE } from './service.js';

/** The service: management API, kernel, and the job handlers unless they run elsewhere. */
@Module({})
export class AppModule {
  static forRoot(settings: Readonly<ProxyGatewaySettings>): DynamicModule {
    const secretKeys = keysOf(settings);
    return {
      module: AppModule,
      imports: [
        ...foundation(settings, secretKeys, settings.workers),
        ThrottlingModule.perMinute(settings.apiRateLimit),
        AuditApiModule.forRoot(ProxyAuditRules),
        AccessModule.forRoot(secretKeys),
        ChangesModule.forRoot({ channel: 'proxy_gateway:changes', imports: [OpenAccessModule] }),
        SubscriptionsModule,
        ProfilesModule,
        PublicationsModule,
        NodesModule,
        NodeHealthModule,
        CountriesModule,
        JobsApiModule,
        OutboundModule,
        RulesModule,
        RuleSetsModule,
        ConnectionsModule,
        TrafficModule,
        DashboardModule,
        ProxyUsersModule,
        SystemModule,
        KernelsModule,
        GeoApiModule,
        RuntimeLogsApiModule,
        SettingsApiModule,
      ],
    };
  }
}

/** The job handlers alone: no API, no kernel. */
@Module({})
export class WorkerModule {
  static forRoot(settings: Readonly<ProxyGatewaySettings>): DynamicModule {
    return { module: WorkerModule, imports: foundation(settings, keysOf(settings), 'only') };
  }
}

function keysOf({ home, secretKey }: Readonly<ProxyGatewaySettings>): readonly Buffer[] {
  return loadSecretKeys({ home, envValue: secretKey });
}

/** What the service and its worker have in common, job handlers included. */
function foundation(
  settings: Readonly<ProxyGatewaySettings>,
  secretKeys: readonly Buffer[],
  workers: WorkersMode,
): NonNullable<DynamicModule['imports']> {
  return [
    ...SERVICE.foundation(settings, workers),
    PreferencesModule,
    RuntimeLogsModule.forRoot(workers === 'only' ? 'worker' : 'api'),
    AuditModule.forRoot({
      service: SERVICE.name,
      settings,
      secretKeys,
      retentionDays: { inject: Preferences, days: (found: Preferences) => found.get('audit.retention_days') },
    }),
    RefreshModule,
    RuleSetRefreshModule,
    GeoModule,
    RetentionModule,
    JobControlModule,
    HealthJobsModule,
  ];
}
