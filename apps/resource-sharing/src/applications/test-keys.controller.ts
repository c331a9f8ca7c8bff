import { Fails } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiEnvelope, ApiEnvelopeList } from '../wire/api-envelope.js';
import { CurrentUserId } from '../wire/current-user.js';
import { Enveloped } from '../wire/envelope.js';
import { ClientIdPipe, IdPipe } from '../wire/path-values.js';
import { CredentialView, IssuedCredentialView, toCredentialView, toIssuedCredentialView } from './applications.view.js';
import { TestPointsBody, TestShareView, toTestShareView } from './test-keys.dto.js';
import { TestKeys } from './test-keys.service.js';

@ApiTags('applications')
@Controller('api/site/applications/:client_id')
export class TestKeysController {
  constructor(private readonly keys: TestKeys) {}

  @Get('test-keys')
  @ApiOperation({ summary: 'Test keys of an application' })
  @ApiEnvelopeList(CredentialView)
  async list(@CurrentUserId() userId: number, @Param('client_id', ClientIdPipe) clientId: string): Promise<Enveloped> {
    const found = await this.keys.list(userId, clientId);
    return new Enveloped(found.map(toCredentialView), { total: found.length });
  }

  @Post('test-keys')
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a test key; it is shown only once. An application may have two' })
  @ApiEnvelope(IssuedCredentialView)
  @Fails('CONFLICT')
  async create(
    @CurrentUserId() userId: number,
    @Param('client_id', ClientIdPipe) clientId: string,
  ): Promise<IssuedCredentialView> {
    return toIssuedCredentialView(await this.keys.create(userId, clientId));
  }

  @Delete('test-keys/:id')
  @ApiOperation({ summary: 'Revoke a test key' })
  @ApiEnvelope()
  revoke(
    @CurrentUserId() userId: number,
    @Param('client_id', ClientIdPipe) clientId: string,
    @Param('id', IdPipe) id: number,
  ): Promise<void> {
    return this.keys.revoke(userId, clientId, id);
  }

  @Get('test-shares')
  @ApiOperation({
    summary: 'Made-up shares that test keys can unlock, one of each outcome; none before the first call',
  })
  @ApiEnvelopeList(TestShareView)
  async shares(
    @CurrentUserId() userId: number,
    @Param('client_id', ClientIdPipe) clientId: string,
  ): Promise<Enveloped> {
    const found = await this.keys.shares(userId, clientId);
    return new Enveloped(found.map(toTestShareView), { total: found.length });
  }

  @Put('test-points')
  @ApiOperation({ summary: 'Set the points of a user in test mode of this application' })
  @ApiEnvelope()
  setPoints(
    @CurrentUserId() userId: number,
    @Param('client_id', ClientIdPipe) clientId: string,
    @Body() { points, user_id: whose }: TestPointsBody,
  ): Promise<void> {
    return this.keys.setPoints(userId, clientId, points, whose);
  }

  @Delete('test-data')
  @ApiOperation({ summary: 'Remove everything that was made with test keys' })
  @ApiEnvelope()
  empty(@CurrentUserId() userId: number, @Param('client_id', ClientIdPipe) clientId: string): Promise<void> {
    return this.keys.empty(userId, clientId);
  }
}
