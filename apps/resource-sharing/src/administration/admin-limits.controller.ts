import { Requires } from '@gatehouse/auth';
import { Fails } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import { IdPipe } from '../wire/path-values.js';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentUserId } from '../wire/current-user.js';
import { QuotaProfiles } from '../quota/quota-profiles.js';
import { RiskStates } from '../risk/risk-states.service.js';
import { ApiEnvelope, ApiEnvelopeArray } from '../wire/api-envelope.js';
import { QuotaProfileBody, QuotaProfileName } from './limits.dto.js';
import {
  QuotaProfileView,
  RiskStateView,
  toQuotaProfile,
  toQuotaProfileView,
  toRiskStateView,
  toUserRiskView,
  UserRiskView,
} from './limits.view.js';

const MAX_RAISED = 500;

@ApiTags('administration')
@Requires('admin')
@Controller('api/site/admin')
export class AdminLimitsController {
  constructor(
    private readonly profiles: QuotaProfiles,
    private readonly risk: RiskStates,
  ) {}

  @Get('quota-profiles')
  @ApiOperation({ summary: 'Quota profiles for applications' })
  @ApiEnvelopeArray(QuotaProfileView)
  async list(): Promise<QuotaProfileView[]> {
    return (await this.profiles.list()).map(toQuotaProfileView);
  }

  @Put('quota-profiles/:name')
  @ApiOperation({ summary: 'Create or replace a quota profile; an absent field means no limit' })
  @ApiEnvelope(QuotaProfileView)
  async save(
    @CurrentUserId() actorId: number,
    @Param() { name }: QuotaProfileName,
    @Body() body: QuotaProfileBody,
  ): Promise<QuotaProfileView> {
    const profile = toQuotaProfile(name, body ?? {});
    await this.profiles.save(profile, actorId);
    return toQuotaProfileView(profile);
  }

  @Delete('quota-profiles/:name')
  @ApiOperation({ summary: 'Delete a quota profile; its applications get the default limits' })
  @ApiEnvelope()
  @Fails('NOT_FOUND', 'IN_USE')
  remove(@CurrentUserId() actorId: number, @Param() { name }: QuotaProfileName): Promise<void> {
    return this.profiles.remove(name, actorId);
  }

  @Get('risk')
  @ApiOperation({ summary: 'Users above risk tier 0 or waiting for review' })
  @ApiEnvelopeArray(RiskStateView)
  async raised(): Promise<RiskStateView[]> {
    return (await this.risk.listRaised({ limit: MAX_RAISED })).map(toRiskStateView);
  }

  @Get('risk/:user_id')
  @ApiOperation({ summary: 'Risk tier of a user and the events that led to it' })
  @ApiEnvelope(UserRiskView)
  async ofUser(@Param('user_id', IdPipe) userId: number): Promise<UserRiskView> {
    return toUserRiskView(await this.risk.read(userId), await this.risk.events(userId));
  }

  @Post('risk/:user_id/reset')
  @HttpCode(200)
  @ApiOperation({ summary: 'Reset a user to tier 0 and clear the counters' })
  @ApiEnvelope()
  @Fails('NOT_FOUND')
  reset(@CurrentUserId() actorId: number, @Param('user_id', IdPipe) userId: number): Promise<void> {
    return this.risk.reset(userId, actorId);
  }
}
