import { addedHeader } from '@gatehouse/platform';
import { Controller, Get, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Response } from 'express';
import { CurrentCaller, OpenOperation, type Caller } from '../credentials/caller.js';
import { ApiEnvelope } from '../wire/api-envelope.js';
import { PingView, QuotaView, toPingView } from './quota.view.js';
import { ServiceDays } from './service-days.js';

@ApiTags('usage')
@Controller('api/open')
export class QuotaController {
  constructor(private readonly days: ServiceDays) {}

  @Get('ping')
  @OpenOperation({ scope: 'meta' })
  @ApiOperation({ summary: 'Check that a key is valid, and get its id and name' })
  @ApiEnvelope(PingView)
  ping(@CurrentCaller() caller: Caller): PingView {
    return toPingView(caller);
  }

  @Get('quota')
  @OpenOperation({ scope: 'meta' })
  @ApiOperation({ summary: 'When quotas reset, and what is left of the quota of this operation' })
  @ApiEnvelope(QuotaView)
  quota(@Res({ passthrough: true }) response: Response): QuotaView {
    return {
      daily_reset: Math.ceil(this.days.at().endsAt / 1_000),
      endpoint_limit: numberOf(response, 'X-Endpoint-Limit'),
      endpoint_remaining: numberOf(response, 'X-Endpoint-Remaining'),
    };
  }
}

/** The result of the limits for this call. */
function numberOf(response: Response, header: string): number | null {
  const value = addedHeader(response, header);
  return value === undefined ? null : Number(value);
}
