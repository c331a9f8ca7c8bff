import { Module } from '@nestjs/common';
import { ApplicationsModule } from '../applications/applications.module.js';
import { IdentityModule } from '../identity/identity.module.js';
import { AuthorizationService } from './authorization.service.js';
import { ClientAuthentication } from './client-authentication.js';
import { CodeExchange } from './code-exchange.js';
import { DeviceAuthorizations } from './device-authorization.js';
import { DeviceExchange } from './device-exchange.js';
import { IdTokens } from './id-tokens.js';
import { IdentityController } from './identity.controller.js';
import { OpenOAuthController } from './open-oauth.controller.js';
import { RefreshRotation } from './refresh-rotation.js';
import { ServerMetadataController } from './server-metadata.controller.js';
import { StandardOAuthController } from './standard-oauth.controller.js';
import { SignIns } from './sign-ins.js';
import { TokenStatus } from './token-status.service.js';
import { TokenSubjects } from './token-subjects.js';
import { TokenIssue } from './token-issue.js';
import { TokenService } from './token.service.js';
import { UserInfo } from './user-info.service.js';

/** The authorization server: one implementation for the contract's paths and those of the RFCs. */
@Module({
  imports: [ApplicationsModule, IdentityModule],
  controllers: [OpenOAuthController, StandardOAuthController, IdentityController, ServerMetadataController],
  providers: [
    AuthorizationService,
    ClientAuthentication,
    CodeExchange,
    DeviceAuthorizations,
    DeviceExchange,
    IdTokens,
    SignIns,
    UserInfo,
    TokenIssue,
    RefreshRotation,
    TokenService,
    TokenStatus,
    TokenSubjects,
  ],
  exports: [AuthorizationService, SignIns, DeviceAuthorizations],
})
export class OAuthModule {}
