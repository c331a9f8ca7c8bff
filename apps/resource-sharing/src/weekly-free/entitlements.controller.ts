import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { openText } from '../messages/open-api.js';
import { CurrentCaller, OpenOperation, type UserCaller } from '../credentials/caller.js';
import { ApiEnvelope } from '../wire/api-envelope.js';
import { Enveloped } from '../wire/envelope.js';
import { WeeklyFreeUnlocks } from './weekly-free.service.js';
import { EntitlementsView, toEntitlementsView } from './weekly-free.view.js';

@ApiTags('vip')
@Controller('api/open/vip/entitlements')
export class EntitlementsController {
  constructor(private readonly weekly: WeeklyFreeUnlocks) {}

  @Get()
  @OpenOperation({ scope: 'vip', user: 'premium' })
  @ApiOperation({ summary: 'What Premium gives the user' })
  @ApiEnvelope(EntitlementsView)
  async read(@CurrentCaller() { userId }: UserCaller): Promise<Enveloped> {
    return new Enveloped(toEntitlementsView(await this.weekly.of(userId)), { message: openText('open.weeklyFree') });
  }
}
