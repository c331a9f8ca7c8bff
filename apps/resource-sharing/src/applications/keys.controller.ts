import { Body, Controller, Delete, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiEnvelope, ApiEnvelopeList } from '../wire/api-envelope.js';
import { Enveloped } from '../wire/envelope.interceptor.js';
import { NewKeyBody } from './applications.dto.js';
import { CredentialView, IssuedCredentialView, toCredentialView, toIssuedCredentialView } from './applications.view.js';
import { CurrentUserId } from './current-user.js';
import { IdPipe } from './path-values.js';
import { PersonalKeys } from './personal-keys.service.js';

@ApiTags('keys')
@Controller('api/site/keys')
export class KeysController {
  constructor(private readonly keys: PersonalKeys) {}

  @Get()
  @ApiOperation({ summary: 'Personal API keys of this account' })
  @ApiEnvelopeList(CredentialView)
  async list(@CurrentUserId() userId: number): Promise<Enveloped> {
    const found = await this.keys.list(userId);
    return new Enveloped(found.map(toCredentialView), { total: found.length });
  }

  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: 'Make a personal API key; the answer shows it, once' })
  @ApiEnvelope(IssuedCredentialView)
  async create(@CurrentUserId() userId: number, @Body() body: NewKeyBody): Promise<IssuedCredentialView> {
    const { name, scopes, expires_at: end, ip_allow: ipAllow } = body;
    const expiresAt = end == null ? null : new Date(end);
    return toIssuedCredentialView(await this.keys.create(userId, { name, scopes, expiresAt, ipAllow }));
  }

  @Delete(':id')
  @ApiOperation({ summary: 'End a key now' })
  @ApiEnvelope()
  revoke(@CurrentUserId() userId: number, @Param('id', IdPipe) id: number): Promise<void> {
    return this.keys.revoke(userId, id);
  }
}
