import { AuthModule } from '@gatehouse/auth';
import { PersistenceModule } from '@gatehouse/persistence';
import { ThrottlingModule } from '@gatehouse/platform';
import { Module, type DynamicModule } from '@nestjs/common';
import { AuthPoliciesModule } from './auth-policies/auth-policies.module.js';
import { AuthController } from './auth/auth.controller.js';
import { ConsoleUsers } from './auth/console-users.js';
import { Login } from './auth/login.js';
import { SESSION_COOKIE } from './auth/session-cookie-name.js';
import { ClientsModule } from './clients/clients.module.js';
import { databaseConfig, SERVICE_NAME } from './database.js';
import { EnvironmentModule } from './environment.module.js';
import { EdgeModule } from './gateway-host/edge.module.js';
import type { RunningEdge } from './gateway-host/start-edge.js';
import { HostsModule } from './hosts/hosts.module.js';
import { IpRulesModule } from './ip-rules/ip-rules.module.js';
import { DatabaseHealth } from './health/database-health.js';
import { OwnershipModule } from './ownership/ownership.module.js';
import type { TunnelGatewaySettings } from './settings.js';
import { TunnelsModule } from './tunnels/tunnels.module.js';
import { UsersModule } from './users/users.module.js';

@Module({})
export class AppModule {
  /** `edge`: one that serves already. */
  static forRoot(settings: Readonly<TunnelGatewaySettings>, edge?: RunningEdge): DynamicModule {
    return {
      module: AppModule,
      imports: [
        EnvironmentModule.forRoot(settings),
        ThrottlingModule.perMinute(settings.apiRateLimit),
        PersistenceModule.forRoot(databaseConfig(settings.databaseUrl)),
        AuthModule.forRoot({
          service: SERVICE_NAME,
          imports: [UsersModule],
          sessions: { cookie: SESSION_COOKIE, secure: settings.secureCookies, users: ConsoleUsers },
        }),
        UsersModule,
        OwnershipModule,
        EdgeModule.forRoot(edge),
        ClientsModule,
        TunnelsModule,
        HostsModule,
        IpRulesModule,
        AuthPoliciesModule,
      ],
      controllers: [AuthController],
      providers: [DatabaseHealth, Login],
    };
  }
}
