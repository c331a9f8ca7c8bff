import { CurrentActor, Requires } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import type {
  ItemList,
  RuleSetDeletedResponse,
  RuleSetDetail,
  RuleSetRefreshResult,
  RuleSetView,
} from '@gatehouse/contracts';
import { Answers, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
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
  @Answers('RuleSetList', 'The rule sets')
  @Requires('read')
  list(@CurrentActor() actor: Actor | null): Promise<ItemList<RuleSetView>> {
    return this.ruleSets.list(actor);
  }

  @Get(':id')
  @Answers('RuleSetDetail', 'One rule set')
  @Requires('read')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor | null): Promise<RuleSetDetail> {
    return this.ruleSets.get(id, actor);
  }

  @Post()
  @Answers('RuleSetDetail', 'Adds a rule set')
  @Fails('CONFLICT', 'UNPROCESSABLE')
  @Requires('write')
  create(@Body() body: NewRuleSet, @CurrentActor() actor: Actor | null): Promise<RuleSetDetail> {
    return this.ruleSets.create(body, actor);
  }

  @Put(':id')
  @Answers('RuleSetDetail', 'Changes a rule set')
  @Fails('CONFLICT', 'IN_USE', 'UNPROCESSABLE')
  @Requires('write')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: RuleSetChanges,
    @CurrentActor() actor: Actor | null,
  ): Promise<RuleSetDetail> {
    return this.ruleSets.update(id, body, actor);
  }

  /** With `force=true` also deletes a set that rules name; they are skipped from then on. */
  @Delete(':id')
  @Answers('RuleSetDeletedResponse', 'Deletes a rule set')
  @Fails('IN_USE')
  @Requires('write')
  remove(@Param('id', IdPipe) id: number, @Query() { force }: ForceQuery): Promise<RuleSetDeletedResponse> {
    return this.ruleSets.remove(id, force === 'true');
  }

  /** Waits for the result. With `force=true` the content is fetched even if it has not changed. */
  @Post(':id/refresh')
  @Answers('RuleSetRefreshResult', 'Fetches a rule set now')
  @Fails('UPSTREAM_TIMEOUT')
  @HttpCode(200)
  @Requires('write')
  refresh(@Param('id', IdPipe) id: number, @Query() { force }: ForceQuery): Promise<RuleSetRefreshResult> {
    return this.requestRefresh.run(id, force === 'true');
  }
}
