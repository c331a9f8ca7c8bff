import { Requires } from '@gatehouse/auth';
import type {
  ItemList,
  MergedRulesResponse,
  Page,
  RuleDeletedResponse,
  RuleTestResponse,
  RuleView,
} from '@gatehouse/contracts';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { IdPipe } from '../wire/id.pipe.js';
import { MergedRulesService } from './merged/merged-rules.service.js';
import { MergedRulesQuery, RuleBody, RuleQuery, RuleTestBody } from './rule.dto.js';
import { RulesService } from './rules.service.js';
import { TestRoute } from './test-route.js';

@Controller('rules')
export class RulesController {
  constructor(
    private readonly rules: RulesService,
    private readonly merged: MergedRulesService,
    private readonly testRoute: TestRoute,
  ) {}

  @Get()
  @Requires('read')
  list(@Query() query: RuleQuery): Promise<ItemList<RuleView> | Page<RuleView>> {
    return this.rules.listRules(query);
  }

  @Get('merged')
  @Requires('read')
  listMerged(@Query() { limit, offset }: MergedRulesQuery): Promise<MergedRulesResponse> {
    return this.merged.page(limit, offset);
  }

  @Get(':id')
  @Requires('read')
  get(@Param('id', IdPipe) id: number): Promise<RuleView> {
    return this.rules.get(id);
  }

  @Post()
  @Requires('write')
  create(@Body() body: RuleBody): Promise<RuleView> {
    return this.rules.create(body);
  }

  @Post('test')
  @HttpCode(200)
  @Requires('read')
  test(@Body() body: RuleTestBody): Promise<RuleTestResponse> {
    return this.testRoute.run(body.url);
  }

  @Put(':id')
  @Requires('write')
  update(@Param('id', IdPipe) id: number, @Body() body: RuleBody): Promise<RuleView> {
    return this.rules.update(id, body);
  }

  @Delete(':id')
  @Requires('write')
  remove(@Param('id', IdPipe) id: number): Promise<RuleDeletedResponse> {
    return this.rules.remove(id);
  }
}
