import { CurrentActor, type Actor } from '@gatehouse/auth';
import type { IpRuleCheck, IpRulePage, IpRuleView, WrittenIpRuleView } from '@gatehouse/contracts';
import { Answers, AnswersNothing, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Ip, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IfMatch } from '../wire/if-match.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { IpRuleCheckService } from './ip-rule-check.js';
import { IpRuleChanges, IpRuleCheckQuery, IpRuleQuery, IpRuleRemovalQuery, NewIpRuleBody } from './ip-rule.dto.js';
import { IpRulesService } from './ip-rules.service.js';

@ApiTags('ip-rules')
@Controller('ip-rules')
export class IpRulesController {
  constructor(
    private readonly rules: IpRulesService,
    private readonly checks: IpRuleCheckService,
  ) {}

  @Get()
  @Answers('IpRulePage', 'Lists IP rules')
  list(@Query() query: IpRuleQuery, @CurrentActor() actor: Actor): Promise<IpRulePage> {
    return this.rules.list(query, actor);
  }

  @Post()
  @Answers('WrittenIpRuleView', 'Creates an IP rule')
  @Fails('SELF_LOCKOUT')
  create(@Body() body: NewIpRuleBody, @CurrentActor() actor: Actor, @Ip() address: string): Promise<WrittenIpRuleView> {
    return this.rules.create(body, actor, address);
  }

  @Get('check')
  @Answers('IpRuleCheck', 'Evaluates the rules for an address')
  @Fails('NOT_FOUND')
  check(@Query() query: IpRuleCheckQuery, @CurrentActor() actor: Actor): Promise<IpRuleCheck> {
    return this.checks.check(query, actor);
  }

  @Get(':id')
  @Answers('IpRuleView', 'Returns one IP rule')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<IpRuleView> {
    return this.rules.get(id, actor);
  }

  @Patch(':id')
  @Answers('WrittenIpRuleView', 'Changes an IP rule')
  @Fails('SELF_LOCKOUT')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: IpRuleChanges,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
    @Ip() address: string,
  ): Promise<WrittenIpRuleView> {
    return this.rules.update(id, body, { actor, address, expected });
  }

  @Delete(':id')
  @HttpCode(204)
  @AnswersNothing('Deletes an IP rule')
  @Fails('SELF_LOCKOUT')
  remove(
    @Param('id', IdPipe) id: number,
    @Query() { force }: IpRuleRemovalQuery,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
    @Ip() address: string,
  ): Promise<void> {
    return this.rules.remove(id, force === 'true', { actor, address, expected });
  }
}
