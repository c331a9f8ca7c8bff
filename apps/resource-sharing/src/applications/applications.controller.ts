import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { ApiEnvelope, ApiEnvelopeList } from '../wire/api-envelope.js';
import { Enveloped } from '../wire/envelope.js';
import { ApplicationSecrets } from './application-secrets.service.js';
import { ApplicationChangeBody, NewApplicationBody, SecretRotationBody } from './applications.dto.js';
import { Applications } from './applications.service.js';
import {
  ApplicationView,
  CredentialView,
  IssuedCredentialView,
  RegisteredApplicationView,
  toApplicationView,
  toCredentialView,
  toIssuedCredentialView,
} from './applications.view.js';
import { proofOf } from '../site/password-confirmation.js';
import { CurrentUserId } from '../wire/current-user.js';
import { OwnerConfirmation } from './owner-confirmation.js';
import { ClientIdPipe, IdPipe } from '../wire/path-values.js';
import { Registration } from './registration.js';

@ApiTags('applications')
@Controller('api/site/applications')
export class ApplicationsController {
  constructor(
    private readonly registration: Registration,
    private readonly applications: Applications,
    private readonly secrets: ApplicationSecrets,
    private readonly confirmation: OwnerConfirmation,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Applications of this account' })
  @ApiEnvelopeList(ApplicationView)
  async list(@CurrentUserId() userId: number): Promise<Enveloped> {
    const found = await this.applications.listOf(userId);
    return new Enveloped(found.map(toApplicationView), { total: found.length });
  }

  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: 'Register an application; the secret is shown only once' })
  @ApiEnvelope(RegisteredApplicationView)
  async register(
    @CurrentUserId() userId: number,
    @Body() body: NewApplicationBody,
  ): Promise<RegisteredApplicationView> {
    const { application, issued } = await this.registration.register(userId, {
      name: body.name,
      description: body.description,
      kind: body.kind,
      scopes: body.scopes,
      redirectUris: body.redirect_uris,
      requirePkce: body.require_pkce,
      ipAllow: body.ip_allow,
    });
    return Object.assign(toApplicationView(application), { secret: toIssuedCredentialView(issued) });
  }

  @Get(':client_id')
  @ApiOperation({ summary: 'One application of this account' })
  @ApiEnvelope(ApplicationView)
  async one(
    @CurrentUserId() userId: number,
    @Param('client_id', ClientIdPipe) clientId: string,
  ): Promise<ApplicationView> {
    return toApplicationView(await this.applications.ofOwner(userId, clientId));
  }

  @Patch(':client_id')
  @ApiOperation({
    summary:
      'Change an application; name, description and redirect addresses of a reviewed one wait for a review (`proposed`)',
  })
  @ApiEnvelope(ApplicationView)
  async update(
    @CurrentUserId() userId: number,
    @Param('client_id', ClientIdPipe) clientId: string,
    @Body() body: ApplicationChangeBody,
    @Req() request: Request,
  ): Promise<ApplicationView> {
    const change = {
      name: body.name,
      description: body.description,
      scopes: body.scopes,
      redirectUris: body.redirect_uris,
      requirePkce: body.require_pkce,
      ipAllow: body.ip_allow,
      testUserIds: body.test_user_ids,
      boundToOwner: body.bound_to_owner,
    };
    const asked = { ownerId: userId, clientId, proof: proofOf(body), request };
    return toApplicationView(await this.confirmation.update(asked, change));
  }

  @Delete(':client_id')
  @ApiOperation({ summary: 'Delete an application with its secrets, authorizations and tokens' })
  @ApiEnvelope()
  remove(@CurrentUserId() userId: number, @Param('client_id', ClientIdPipe) clientId: string): Promise<void> {
    return this.applications.remove(userId, clientId);
  }

  @Get(':client_id/secrets')
  @ApiOperation({ summary: 'Valid secrets of an application' })
  @ApiEnvelopeList(CredentialView)
  async listSecrets(
    @CurrentUserId() userId: number,
    @Param('client_id', ClientIdPipe) clientId: string,
  ): Promise<Enveloped> {
    const found = await this.secrets.list(userId, clientId);
    return new Enveloped(found.map(toCredentialView), { total: found.length });
  }

  @Post(':client_id/secrets')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a new secret; the previous one stays valid for a while' })
  @ApiEnvelope(IssuedCredentialView)
  async rotate(
    @CurrentUserId() userId: number,
    @Param('client_id', ClientIdPipe) clientId: string,
    @Body() body: SecretRotationBody,
    @Req() request: Request,
  ): Promise<IssuedCredentialView> {
    const asked = { ownerId: userId, clientId, proof: proofOf(body), request };
    return toIssuedCredentialView(await this.confirmation.rotate(asked, body?.overlap_seconds));
  }

  @Delete(':client_id/secrets/:id')
  @ApiOperation({ summary: 'Revoke a secret' })
  @ApiEnvelope()
  revokeSecret(
    @CurrentUserId() userId: number,
    @Param('client_id', ClientIdPipe) clientId: string,
    @Param('id', IdPipe) id: number,
  ): Promise<void> {
    return this.secrets.revoke(userId, clientId, id);
  }
}
