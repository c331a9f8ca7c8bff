import { Fails } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { PasswordConfirmation, proofOf } from '../site/password-confirmation.js';
import { ApiEnvelope, ApiEnvelopeList } from '../wire/api-envelope.js';
import { Enveloped } from '../wire/envelope.js';
import { NewKeyBody } from './applications.dto.js';
import { CredentialView, IssuedCredentialView, toCredentialView, toIssuedCredentialView } from './applications.view.js';
import { CurrentUserId } from '../wire/current-user.js';
import { IdPipe } from '../wire/path-values.js';
import { PersonalKeys } from './personal-keys.service.js';

@ApiTags('keys')
@Controller('api/site/keys')
export class KeysController {
  constructor(
    private readonly keys: PersonalKeys,
    private readonly password: PasswordConfirmation,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Personal API keys of this account' })
  @ApiEnvelopeList(CredentialView)
  async list(@CurrentUserId() userId: number): Promise<Enveloped> {
    const found = await this.keys.list(userId);
    return new Enveloped(found.map(toCredentialView), { total: found.length });
  }

  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a personal API key; needs the password, and the key is shown only once' })
  @ApiEnvelope(IssuedCredentialView)
  @Fails('LOGIN_FAILED', 'TOTP_REQUIRED', 'LOCKED', 'VIP_REQUIRED', 'CONFLICT', 'RATE_LIMITED')
  async create(
    @CurrentUserId() userId: number,
    @Body() body: NewKeyBody,
    @Req() request: Request,
  ): Promise<IssuedCredentialView> {
    const { name, scopes, expires_at: expiresAt, ip_allow: ipAllow } = body;
    const given = { name, scopes, expiresAt, ipAllow };
    const made = await this.password.during(userId, proofOf(body), request, (tx) =>
      this.keys.create(userId, given, tx),
    );
    return toIssuedCredentialView(made);
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Revoke a key' })
  @ApiEnvelope()
  revoke(@CurrentUserId() userId: number, @Param('id', IdPipe) id: number): Promise<void> {
    return this.keys.revoke(userId, id);
  }
}
