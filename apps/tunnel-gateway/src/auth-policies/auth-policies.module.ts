import { loadSecretKeys } from '@gatehouse/persistence';
import { Module } from '@nestjs/common';
import { PolicySecrets } from '../common/policy-secrets.js';
import { visitorSecretOf } from '../edge-host/start-edge.js';
import { TunnelGatewaySettings } from '../settings.js';
import { AuthPoliciesController } from './auth-policies.controller.js';
import { AuthPoliciesService } from './auth-policies.service.js';
import { PolicyOptionReader } from './policy-options.js';

@Module({
  controllers: [AuthPoliciesController],
  providers: [
    AuthPoliciesService,
    PolicyOptionReader,
    {
      provide: PolicySecrets,
      inject: [TunnelGatewaySettings],
      useFactory: ({ home, secretKey }: TunnelGatewaySettings) =>
        new PolicySecrets(visitorSecretOf(loadSecretKeys({ home, envValue: secretKey }))),
    },
  ],
  exports: [AuthPoliciesService, PolicySecrets],
})
export class AuthPoliciesModule {}
