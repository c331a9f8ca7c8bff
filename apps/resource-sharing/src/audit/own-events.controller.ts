import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentUserId } from '../wire/current-user.js';
import { ApiEnvelopeArray } from '../wire/api-envelope.js';
import { AuditTrail } from './audit-trail.js';
import { SiteEventView, toSiteEventView } from './event.view.js';
import { OwnEventsQuery } from './events.dto.js';

@ApiTags('site')
@Controller('api/site/events')
export class OwnEventsController {
  constructor(private readonly trail: AuditTrail) {}

  @Get()
  @ApiOperation({ summary: 'Security events of this account, newest first' })
  @ApiEnvelopeArray(SiteEventView)
  async list(
    @CurrentUserId() userId: number,
    @Query() { type, before, limit }: OwnEventsQuery,
  ): Promise<SiteEventView[]> {
    return (await this.trail.list({ userId, type, before, limit })).map(toSiteEventView);
  }
}
