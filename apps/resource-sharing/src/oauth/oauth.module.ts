import { Module } from '@nestjs/common';
import { ApplicationsModule } from '../applications/applications.module.js';
import { AuthorizationService } from './authorization.service.js';
import { ClientAuthentication } from './client-authentication.js';
import { CodeExchange } from './code-exchange.js';
import { DeviceAuthorizations } from './device-authorization.js';
import { DeviceExchange } from './device-exchange.js';
import { OpenOAuthController } from './open-oauth.controller.js';
import { RefreshRotation } from './refresh-rotation.js';
import { ServerMetadataController } from './server-metadata.controller.js';
import { StandardOAuthController } from './standard-oauth.controller.js';
import { TokenStatus } from './token-status.service.js';
import { TokenSubjects } from './token-subjects.js';
import { TokenIssue } from './token-issue.js';
import { TokenService } from './token.service.js';

/** The authorization server: one implementation for the contract's paths and those of the RFCs. */
@Module({
  imports: [ApplicationsModule],
  controllers: [OpenOAuthController, StandardOAuthController, ServerMetadataController],
  providers: [
    AuthorizationService,
    ClientAuthentication,
    CodeExchange,
    DeviceAuthorizations,
    DeviceExchange,
    TokenIssue,
    RefreshRotation,
    TokenService,
    TokenStatus,
    TokenSubjects,
  ],
  exports: [AuthorizationService, DeviceAuthorizations],
})
export class OAuthModule {}
