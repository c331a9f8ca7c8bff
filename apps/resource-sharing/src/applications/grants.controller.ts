import { Controller, Delete, Get, Param } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Grants } from '../credentials/grants.service.js';
import { ApiEnvelope, ApiEnvelopeList } from '../wire/api-envelope.js';
import { Enveloped } from '../wire/envelope.js';
import { GrantView, toGrantView } from './applications.view.js';
import { CurrentUserId } from '../wire/current-user.js';
import { ClientIdPipe, IdPipe } from '../wire/path-values.js';

@ApiTags('grants')
@Controller('api/site/grants')
export class GrantsController {
  constructor(private readonly grants: Grants) {}

  @Get()
  @ApiOperation({ summary: 'Applications that this account has authorized' })
  @ApiEnvelopeList(GrantView)
  async list(@CurrentUserId() userId: number): Promise<Enveloped> {
    const found = await this.grants.applicationsOf(userId);
    return new Enveloped(found.map(toGrantView), { total: found.length });
  }

  @Delete('applications/:client_id')
  @ApiOperation({ summary: 'Revoke all authorizations of an application' })
  @ApiEnvelope()
  revokeApplication(
    @CurrentUserId() userId: number,
    @Param('client_id', ClientIdPipe) clientId: string,
  ): Promise<void> {
    return this.grants.revokeApplication(clientId, userId);
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Revoke one authorization' })
  @ApiEnvelope()
  revoke(@CurrentUserId() userId: number, @Param('id', IdPipe) id: number): Promise<void> {
    return this.grants.revokeOne(id, userId);
  }
}
