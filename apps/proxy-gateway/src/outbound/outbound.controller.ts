import { Requires } from '@gatehouse/auth';
import type { DefaultPolicyResult, GroupSwitchResult, OutboundOverview } from '@gatehouse/contracts';
import { Body, Controller, Get, Param, Put, Query } from '@nestjs/common';
import { DefaultPolicy, SwitchGroup, SwitchQuery } from './outbound.dto.js';
import { OutboundService } from './outbound.service.js';

@Controller('outbound')
export class OutboundController {
  constructor(private readonly outbound: OutboundService) {}

  @Get()
  @Requires('read')
  overview(): Promise<OutboundOverview> {
    return this.outbound.overview();
  }

  @Put('groups/:name')
  @Requires('write')
  switchGroup(
    @Param('name') name: string,
    @Body() body: SwitchGroup,
    @Query() query: SwitchQuery,
  ): Promise<GroupSwitchResult> {
    return this.outbound.switchGroup(name, body.proxy, query.close_connections);
  }

  @Put('default-policy')
  @Requires('write')
  setDefaultPolicy(@Body() body: DefaultPolicy): Promise<DefaultPolicyResult> {
    return this.outbound.setDefaultPolicy(body.policy);
  }
}
