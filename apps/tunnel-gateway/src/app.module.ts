import { AuditApiModule, AuditModule } from '@gatehouse/audit';
import { ChangesModule } from '@gatehouse/changes';
import { AuthModule, IdempotencyModule } from '@gatehouse/auth';
import type { WorkersMode } from '@gatehouse/jobs';
import { loadSecretKeys, SECRET_BOX } from '@gatehouse/persistence';
import { remoteProxyClients, ThrottlingModule } from '@gatehouse/platform';
import { Module, type DynamicModule } from '@nestjs/common';
import { AddressListJobsModule } from './address-lists/address-list-jobs.module.js';
import { AddressListsModule } from './address-lists/address-lists.module.js';
import { AcmeModule } from './acme/acme.module.js';
import { TunnelAuditRules } from './audit/tunnel-audit-rules.js';
import { AuthPoliciesModule } from './auth-policies/auth-policies.module.js';
import { ApiKeysModule } from './api-keys/api-keys.module.js';
import { AccountsModule } from './auth/accounts.module.js';
import { ConsoleUsers } from './auth/console-users.js';
import { LOGIN_LIMITS } from './auth/login-limits.js';
import { API_KEY_PREFIX } from './api-keys/api-key-prefix.js';
import { SESSION_COOKIE } from './common/session-cookie-name.js';
import { CertificatesModule } from './certificates/certificates.module.js';
import { ChecksModule } from './checks/checks.module.js';
import { ClientsModule } from './clients/clients.module.js';
import { DashboardModule } from './dashboard/dashboard.module.js';
import { DeviceLoginsModule } from './device-logins/device-logins.module.js';
import { DomainsModule } from './domains/domains.module.js';
import { EventsApiModule } from './events/events-api.module.js';
import { EventsModule } from './events/events.module.js';
import { StreamPermit } from './events/stream-permit.js';
import { EdgesModule } from './edges/edges.module.js';
import { EdgeModule } from './edge-host/edge.module.js';
import type { RunningEdge } from './edge-host/start-edge.js';
import { GatewayModule } from './gateway/gateway.module.js';
import { HostRequestsModule } from './host-requests/host-requests.module.js';
import { HostsModule } from './hosts/hosts.module.js';
import { IpRulesModule } from './ip-rules/ip-rules.module.js';
import { OwnershipModule } from './data/ownership.module.js';
import { RetentionModule } from './retention/retention.module.js';
import { RollupModule } from './rollup/rollup.module.js';
import { SERVICE } from './service.js';
import type { TunnelGatewaySettings } from './settings.js';
import { TrafficModule } from './traffic/traffic.module.js';
import { TransferModule } from './transfer/transfer.module.js';
import { TunnelsModule } from './tunnels/tunnels.module.js';
import { VisitsModule } from './visits/visits.module.js';
import { WebhookJobsModule } from './webhooks/webhook-jobs.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';
import { SessionsModule } from './sessions/sessions.module.js';
import { UserAccountsModule } from './users/user-accounts.module.js';
import { UsersModule } from './users/users.module.js';

@Module({})
export class AppModule {
  /** `edge`: a running one. */
  static forRoot(settings: Readonly<TunnelGatewaySettings>, edge?: RunningEdge): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ...foundation(settings, settings.workers),
        ThrottlingModule.perMinute(settings.apiRateLimit),
        AuditApiModule.forRoot(TunnelAuditRules),
        AuthModule.forRoot({
          service: SERVICE.name,
          imports: [UsersModule],
          apiKeyPrefix: API_KEY_PREFIX,
          loginLimits: LOGIN_LIMITS,
          sessions: {
            cookie: SESSION_COOKIE,
            secure: settings.secureCookies,
            users: ConsoleUsers,
            lastUse: { table: 'session_details', id: 'session_id' },
          },
        }),
        UsersModule,
        AccountsModule,
        UserAccountsModule,
        SessionsModule,
        ApiKeysModule,
        DeviceLoginsModule,
        IdempotencyModule.forRoot({ box: SECRET_BOX }),
        OwnershipModule,
        EdgeModule.forRoot(edge),
        EdgesModule,
        GatewayModule,
        ClientsModule,
        TunnelsModule,
        HostsModule,
        HostRequestsModule,
        DomainsModule,
        CertificatesModule,
        ChecksModule,
        IpRulesModule,
        AddressListsModule,
        AuthPoliciesModule,
        TrafficModule,
        DashboardModule,
        EventsApiModule,
        ChangesModule.forRoot({ channel: 'tunnel_gateway:changes', permit: StreamPermit, imports: [IpRulesModule] }),
        WebhooksModule,
        TransferModule,
        VisitsModule,
      ],
      providers: [remoteProxyClients(settings, keysOf(settings))],
    };
  }
}

/** The module of worker.ts: only jobs. */
@Module({})
export class WorkerModule {
  static forRoot(settings: Readonly<TunnelGatewaySettings>): DynamicModule {
    return { module: WorkerModule, imports: foundation(settings, 'only') };
  }
}

function keysOf({ home, secretKey: envValue }: Readonly<TunnelGatewaySettings>): readonly Buffer[] {
  return loadSecretKeys({ home, envValue });
}

/** Shared by the service and its worker, including job handlers. */
function foundation(
  settings: Readonly<TunnelGatewaySettings>,
  workers: WorkersMode,
): NonNullable<DynamicModule['imports']> {
  return [
    ...SERVICE.foundation(settings, workers),
    AuditModule.forRoot({ service: SERVICE.name, settings, secretKeys: keysOf(settings) }),
    EventsModule,
    AcmeModule,
    AddressListJobsModule,
    WebhookJobsModule,
    RollupModule,
    RetentionModule,
  ];
}
