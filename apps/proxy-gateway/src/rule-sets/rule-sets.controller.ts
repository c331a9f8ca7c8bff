import { CurrentActor, Requires } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import type {
  ItemList,
  RuleSetDeletedResponse,
  RuleSetDetail,
  RuleSetRefreshResult,
  RuleSetView,
} from '@gatehouse/contracts';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { IdPipe } from '../wire/id.pipe.js';
import { RequestRuleSetRefresh } from './request-rule-set-refresh.js';
import { ForceQuery, NewRuleSet, RuleSetChanges } from './rule-set.dto.js';
import { RuleSetsService } from './rule-sets.service.js';

@Controller('rule-sets')
export class RuleSetsController {
  constructor(
    private readonly ruleSets: RuleSetsService,
    private readonly requestRefresh: RequestRuleSetRefresh,
  ) {}

  @Get()
  @Requires('read')
  list(@CurrentActor() actor: Actor | null): Promise<ItemList<RuleSetView>> {
    return this.ruleSets.list(actor);
  }

  @Get(':id')
  @Requires('read')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor | null): Promise<RuleSetDetail> {
    return this.ruleSets.get(id, actor);
  }

  @Post()
  @Requires('write')
  create(@Body() body: NewRuleSet, @CurrentActor() actor: Actor | null): Promise<RuleSetDetail> {
    return this.ruleSets.create(body, actor);
  }

  @Put(':id')
  @Requires('write')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: RuleSetChanges,
    @CurrentActor() actor: Actor | null,
  ): Promise<RuleSetDetail> {
    return this.ruleSets.update(id, body, actor);
  }

  /** With `force=true` also a set that rules name: they are skipped from then on. */
  @Delete(':id')
  @Requires('write')
  remove(@Param('id', IdPipe) id: number, @Query() { force }: ForceQuery): Promise<RuleSetDeletedResponse> {
    return this.ruleSets.remove(id, force === 'true');
  }

  /** Waits for the result. With `force=true` the whole content is asked for, changed or not. */
  @Post(':id/refresh')
  @HttpCode(200)
  @Requires('write')
  refresh(@Param('id', IdPipe) id: number, @Query() { force }: ForceQuery): Promise<RuleSetRefreshResult> {
    return this.requestRefresh.run(id, force === 'true');
  }
}
