import { CurrentActor, type Actor } from '@gatehouse/auth';
import type { ServiceCheckView } from '@gatehouse/contracts';
import { Answers, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, HttpCode, Param, Post } from '@nestjs/common';
import { ApiBody, ApiTags } from '@nestjs/swagger';
import { TunnelCheckBody } from './service-check.dto.js';
import { ServiceChecks } from './service-checks.service.js';

const ABOUT = 'Checks whether visitors get an answer';

@ApiTags('hosts')
@Controller('hosts')
export class HostChecksController {
  constructor(private readonly checks: ServiceChecks) {}

  @Post(':id/check')
  @HttpCode(200)
  @Answers('ServiceCheckView', ABOUT)
  @Fails('EDGE_UNAVAILABLE', 'SERVICE_UNAVAILABLE')
  check(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<ServiceCheckView> {
    return this.checks.host(id, actor);
  }
}

@ApiTags('tunnels')
@Controller('tunnels')
export class TunnelChecksController {
  constructor(private readonly checks: ServiceChecks) {}

  @Post(':id/check')
  @HttpCode(200)
  @ApiBody({ type: TunnelCheckBody, required: false })
  @Answers('ServiceCheckView', ABOUT)
  @Fails('EDGE_UNAVAILABLE', 'SERVICE_UNAVAILABLE')
  check(
    @Param('id', IdPipe) id: number,
    // Most clients send none.
    @Body() body: TunnelCheckBody = {},
    @CurrentActor() actor: Actor,
  ): Promise<ServiceCheckView> {
    return this.checks.tunnel(id, body, actor);
  }
}
