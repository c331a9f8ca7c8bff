import { Fails } from '@gatehouse/platform';
import { Body, Controller, HttpCode, Post, Req } from '@nestjs/common';
import { ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request } from 'express';
import { ApiIdempotent } from '../idempotency/api-idempotent.js';
import { IdempotentRequests } from '../idempotency/idempotent-requests.js';
import { CurrentCaller, OpenOperation, type UserCaller } from '../credentials/caller.js';
import { ApiEnvelope } from '../wire/api-envelope.js';
import type { Enveloped } from '../wire/envelope.js';
import { CheckInBody, CheckInView, toCheckInAnswer } from './check-in.dto.js';
import { CheckIns } from './check-ins.service.js';

@ApiTags('vip')
@Controller('api/open/checkin')
export class CheckInController {
  constructor(
    private readonly checkIns: CheckIns,
    private readonly idempotent: IdempotentRequests,
  ) {}

  @Post()
  @HttpCode(200)
  @OpenOperation({ scope: 'vip', user: 'premium' })
  @ApiOperation({
    summary: 'Check in for today',
    description:
      'Draws 4 to 10 points or, with is_gambler, -3 to 30, each number of the range equally likely. Premium doubles what ' +
      'is won; without points a loss is won instead; no loss exceeds the balance.',
  })
  @ApiBody({ type: CheckInBody, required: false })
  @ApiIdempotent()
  @ApiEnvelope(CheckInView)
  @Fails('CONFLICT', 'IDEMPOTENCY_KEY_IN_USE', 'UNPROCESSABLE')
  checkIn(
    @Req() request: Request,
    // Clients send no body.
    @Body() body: CheckInBody = {},
    @CurrentCaller() caller: UserCaller,
  ): Promise<Enveloped> {
    const mode = body.is_gambler === true ? 'gambler' : 'normal';
    return this.idempotent.run(request, caller, async (tx) =>
      toCheckInAnswer(await this.checkIns.checkIn(caller, mode, tx)),
    );
  }
}
