import { CurrentActor, type Actor } from '@gatehouse/auth';
import type { IpRuleCheck, IpRulePage, IpRuleView, WrittenIpRuleView } from '@gatehouse/contracts';
import { Answers, AnswersNothing, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IfMatch } from '../wire/if-match.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { IpRuleCheckService } from './ip-rule-check.js';
import { IpRuleChanges, IpRuleCheckQuery, IpRuleQuery, NewIpRuleBody } from './ip-rule.dto.js';
import { IpRulesService } from './ip-rules.service.js';

@ApiTags('ip-rules')
@Controller('ip-rules')
export class IpRulesController {
  constructor(
    private readonly rules: IpRulesService,
    private readonly checks: IpRuleCheckService,
  ) {}

  @Get()
  @Answers('IpRulePage', 'Rules about addresses, a page at a time')
  list(@Query() query: IpRuleQuery, @CurrentActor() actor: Actor): Promise<IpRulePage> {
    return this.rules.list(query, actor);
  }

  @Post()
  @Answers('WrittenIpRuleView', 'Adds a rule; it holds for visitors who are connected too')
  create(@Body() body: NewIpRuleBody, @CurrentActor() actor: Actor): Promise<WrittenIpRuleView> {
    return this.rules.create(body, actor);
  }

  @Get('check')
  @Answers('IpRuleCheck', 'Whether an address may come in, and why, level by level')
  @Fails('NOT_FOUND')
  check(@Query() query: IpRuleCheckQuery, @CurrentActor() actor: Actor): Promise<IpRuleCheck> {
    return this.checks.check(query, actor);
  }

  @Get(':id')
  @Answers('IpRuleView', 'One rule')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<IpRuleView> {
    return this.rules.get(id, actor);
  }

  @Patch(':id')
  @Answers('WrittenIpRuleView', 'Changes a rule; what it is about stays')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: IpRuleChanges,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<WrittenIpRuleView> {
    return this.rules.update(id, body, actor, expected);
  }

  @Delete(':id')
  @HttpCode(204)
  @AnswersNothing('Removes a rule')
  remove(
    @Param('id', IdPipe) id: number,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<void> {
    return this.rules.remove(id, actor, expected);
  }
}
