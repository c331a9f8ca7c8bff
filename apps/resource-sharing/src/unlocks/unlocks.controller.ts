import { Fails } from '@gatehouse/platform';
import { Body, Controller, HttpCode, Post, Req, Res } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { ApiIdempotent } from '../idempotency/api-idempotent.js';
import { IdempotentRequests } from '../idempotency/idempotent-requests.js';
import { CurrentCaller, OpenOperation, type UserCaller } from '../credentials/caller.js';
import { UnlockRisk } from '../risk/unlock-risk.js';
import { ApiEnvelope } from '../wire/api-envelope.js';
import type { Enveloped } from '../wire/envelope.js';
import { refusedOf, UnlockBatches, type UnlockAttempt } from './unlock-batches.js';
import { toUnlockAnswer, toUnlockAnswers, UnlockBody, UnlockView } from './unlock.dto.js';
import { Unlocks } from './unlocks.service.js';

@ApiTags('resources')
@Controller('api/open/resources')
export class UnlocksController {
  constructor(
    private readonly unlocks: Unlocks,
    private readonly batches: UnlockBatches,
    private readonly idempotent: IdempotentRequests,
    private readonly risk: UnlockRisk,
  ) {}

  @Post('unlock')
  @HttpCode(200)
  @OpenOperation({ scope: 'unlock', user: 'required' })
  @ApiOperation({ summary: 'Unlock a share, or several: get link and access code. A price is paid once' })
  @ApiIdempotent()
  @ApiEnvelope(UnlockView)
  @Fails(
    'INSUFFICIENT_POINTS',
    'NOT_FOUND',
    'CONFLICT',
    'IDEMPOTENCY_KEY_IN_USE',
    'UNPROCESSABLE',
    'RATE_LIMIT_EXCEEDED',
    'RISK_BLOCKED',
  )
  unlock(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
    @Body() { slug, slugs = [] }: UnlockBody,
    @CurrentCaller() caller: UserCaller,
  ): Promise<Enveloped> {
    return slug === undefined
      ? this.unlockAll(request, response, slugs, caller)
      : this.unlockOne(request, response, slug, caller);
  }

  private unlockOne(request: Request, response: Response, slug: string, caller: UserCaller): Promise<Enveloped> {
    return this.risk.watch(caller, response, () =>
      this.idempotent.run(request, caller, async (tx) => {
        const unlocked = await this.unlocks.unlock(caller, slug, tx);
        this.risk.sendAllowance(caller, response, unlocked.allowance);
        return toUnlockAnswer(unlocked);
      }),
    );
  }

  private async unlockAll(
    request: Request,
    response: Response,
    slugs: readonly string[],
    caller: UserCaller,
  ): Promise<Enveloped> {
    let attempts: readonly UnlockAttempt[] = [];
    const answer = await this.risk.watch(caller, response, () =>
      this.idempotent.run(request, caller, async (tx) => {
        attempts = await this.batches.unlock(caller, slugs, tx);
        for (const { unlocked } of attempts) {
          if (unlocked !== undefined) this.risk.sendAllowance(caller, response, unlocked.allowance);
        }
        return toUnlockAnswers(attempts);
      }),
    );
    const refused = refusedOf(attempts);
    if (refused !== undefined) await this.risk.noteRefusal(caller, response, refused);
    return answer;
  }
}
