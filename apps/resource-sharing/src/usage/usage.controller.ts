import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, OpenOperation, type Caller } from '../credentials/caller.js';
import { ServiceDays } from '../quota/service-days.js';
import { ApiEnvelope } from '../wire/api-envelope.js';
import { UsageReader, usageSubjectOf } from './usage-reader.js';
import { rangeOf, toSummaryView, toUsageView, UsageQuery, UsageSummaryView, UsageView } from './usage.view.js';

@ApiTags('usage')
@Controller('api/open/usage')
export class UsageController {
  constructor(
    private readonly reader: UsageReader,
    private readonly days: ServiceDays,
  ) {}

  @Get()
  @OpenOperation({ scope: 'meta' })
  @ApiOperation({ summary: 'Calls by day and by operation; the last 30 days by default, at most 366' })
  @ApiEnvelope(UsageView)
  async usage(@Query() query: UsageQuery, @CurrentCaller() caller: Caller): Promise<UsageView> {
    const range = rangeOf(query, this.days.at().date);
    return toUsageView(await this.reader.read(usageSubjectOf(caller), range));
  }

  @Get('today')
  @OpenOperation({ scope: 'meta' })
  @ApiOperation({ summary: 'Calls of the current day' })
  @ApiEnvelope(UsageSummaryView)
  async today(@CurrentCaller() caller: Caller): Promise<UsageSummaryView> {
    const { date } = this.days.at();
    return toSummaryView((await this.reader.read(usageSubjectOf(caller), { first: date, last: date })).summary);
  }
}
