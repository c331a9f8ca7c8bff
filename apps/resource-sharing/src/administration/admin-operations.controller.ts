import { Requires } from '@gatehouse/auth';
import { Body, Controller, Get, Put, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentUserId } from '../wire/current-user.js';
import { AuditTrail } from '../audit/audit-trail.js';
import { SiteEventView, toSiteEventView } from '../audit/event.view.js';
import { EventsQuery } from '../audit/events.dto.js';
import { EndpointSwitches } from '../open-api/endpoint-switches.js';
import { ApiEnvelope, ApiEnvelopeArray } from '../wire/api-envelope.js';
import { EndpointSwitchBody } from './administration.dto.js';
import { EndpointSwitchView, toEndpointSwitchView } from './administration.view.js';

@ApiTags('administration')
@Requires('admin')
@Controller('api/site/admin')
export class AdminOperationsController {
  constructor(
    private readonly trail: AuditTrail,
    private readonly switches: EndpointSwitches,
  ) {}

  @Get('events')
  @ApiOperation({ summary: 'The audit trail, newest first' })
  @ApiEnvelopeArray(SiteEventView)
  async events(@Query() query: EventsQuery): Promise<SiteEventView[]> {
    const { type, user_id: userId, application_id: applicationId, before, limit } = query;
    return (await this.trail.list({ type, userId, applicationId, before, limit })).map(toSiteEventView);
  }

  @Get('endpoints')
  @ApiOperation({ summary: 'Operations of the open API that are switched off' })
  @ApiEnvelopeArray(EndpointSwitchView)
  async endpoints(): Promise<EndpointSwitchView[]> {
    return (await this.switches.list()).map(toEndpointSwitchView);
  }

  @Put('endpoints')
  @ApiOperation({ summary: 'Switch an operation of the open API off or on' })
  @ApiEnvelope()
  async switch(
    @CurrentUserId() actorId: number,
    @Body() { operation, enabled, reason = '' }: EndpointSwitchBody,
  ): Promise<void> {
    if (enabled) await this.switches.enable(operation, actorId);
    else await this.switches.disable(operation, reason, actorId);
  }
}
