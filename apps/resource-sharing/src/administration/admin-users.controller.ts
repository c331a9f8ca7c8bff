import { Requires } from '@gatehouse/auth';
import { Fails } from '@gatehouse/platform';
import { Body, Controller, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { IdPipe } from '../wire/path-values.js';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentUserId } from '../wire/current-user.js';
import { PointGrants } from '../points/point-grants.js';
import { ApiEnvelope, ApiEnvelopeArray } from '../wire/api-envelope.js';
import { PointGrantBody, SearchQuery, UserChangeBody } from './administration.dto.js';
import { GrantedPointsView, KnownUserView, toGrantedPointsView, toKnownUserView } from './administration.view.js';
import { UserAdministration } from './user-administration.js';

@ApiTags('administration')
@Requires('admin')
@Controller('api/site/admin/users')
export class AdminUsersController {
  constructor(
    private readonly users: UserAdministration,
    private readonly grants: PointGrants,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Accounts, newest first' })
  @ApiEnvelopeArray(KnownUserView)
  async list(@Query() { search, page, page_size: limit }: SearchQuery): Promise<KnownUserView[]> {
    const found = await this.users.list({ search, limit, offset: (page - 1) * limit });
    return found.map(toKnownUserView);
  }

  @Get(':id')
  @ApiOperation({ summary: 'One account' })
  @ApiEnvelope(KnownUserView)
  @Fails('NOT_FOUND')
  async one(@Param('id', IdPipe) id: number): Promise<KnownUserView> {
    return toKnownUserView(await this.users.one(id));
  }

  @Patch(':id')
  @ApiOperation({
    summary: 'Change Premium, permissions or role, disable an account, or turn off a lost second factor',
  })
  @ApiEnvelope(KnownUserView)
  @Fails('NOT_FOUND', 'CONFLICT')
  async change(
    @CurrentUserId() actorId: number,
    @Param('id', IdPipe) id: number,
    @Body() { premium_until: premiumUntil, reset_second_factor: resetSecondFactor, ...change }: UserChangeBody,
  ): Promise<KnownUserView> {
    return toKnownUserView(await this.users.change(actorId, id, { premiumUntil, resetSecondFactor, ...change }));
  }

  @Post(':id/points')
  @HttpCode(200)
  @ApiOperation({ summary: 'Add or deduct points, once for each ref' })
  @ApiEnvelope(GrantedPointsView)
  @Fails('NOT_FOUND', 'CONFLICT', 'INSUFFICIENT_POINTS')
  async grant(
    @CurrentUserId() actorId: number,
    @Param('id', IdPipe) id: number,
    @Body() { points, ref, note }: PointGrantBody,
  ): Promise<GrantedPointsView> {
    const { id: userId } = await this.users.one(id);
    const result = await this.grants.grant({ userId, points, ref, actorId, note: note ?? null });
    return toGrantedPointsView(result);
  }
}
