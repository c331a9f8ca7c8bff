import { Controller, Get } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { openText } from '../messages/open-api.js';
import { CurrentCaller, OpenOperation, type UserCaller } from '../credentials/caller.js';
import { ApiEnvelope } from '../wire/api-envelope.js';
import { Enveloped } from '../wire/envelope.js';
import { WeeklyFreeUnlocks } from './weekly-free.service.js';
import { toWeeklyFreeView, WeeklyFreeView } from './weekly-free.view.js';

@ApiTags('vip')
@Controller('api/open/vip/weekly-free-quota')
export class WeeklyFreeController {
  constructor(private readonly weekly: WeeklyFreeUnlocks) {}

  @Get()
  @OpenOperation({ scope: 'vip', user: 'required' })
  @ApiOperation({ summary: 'Weekly free unlocks of a user with lifetime Premium; 0 for other users' })
  @ApiEnvelope(WeeklyFreeView)
  async quota(@CurrentCaller() { userId }: UserCaller): Promise<Enveloped> {
    return new Enveloped(toWeeklyFreeView(await this.weekly.of(userId)), { message: openText('open.weeklyFree') });
  }
}
