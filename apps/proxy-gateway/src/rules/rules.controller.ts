import { Requires } from '@gatehouse/auth';
import { Answers, Fails, IdPipe } from '@gatehouse/platform';
import type { MergedRulesResponse, Page, RuleDeletedResponse, RuleTestResponse, RuleView } from '@gatehouse/contracts';
import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, StreamableFile } from '@nestjs/common';
import { MergedRulesService } from './merged/merged-rules.service.js';
import { MergedRulesQuery, RuleBody, RuleQuery, RuleTestBody } from './rule.dto.js';
import { isFiltered } from './rule-filter.js';
import { RuleDocuments } from './rule-documents.js';
import { RulesService } from './rules.service.js';
import { TestRoute } from './test-route.js';

@Controller('rules')
export class RulesController {
  constructor(
    private readonly rules: RulesService,
    private readonly merged: MergedRulesService,
    private readonly testRoute: TestRoute,
    private readonly documents: RuleDocuments,
  ) {}

  @Get()
  @Answers('RuleList', 'The rules')
  @Requires('read')
  list(@Query() { limit, offset = 0, ...filter }: RuleQuery): Promise<Page<RuleView> | StreamableFile> {
    const { source, ...search } = filter;
    const isWhole = limit === undefined && !isFiltered(search);
    return isWhole ? this.documents.of(source, offset) : this.rules.listRules(filter, limit ?? 500, offset);
  }

  @Get('merged')
  @Answers('MergedRulesResponse', 'The rules in the order of evaluation')
  @Requires('read')
  listMerged(@Query() { limit, offset, ...filter }: MergedRulesQuery): Promise<MergedRulesResponse> {
    return this.merged.page(filter, limit, offset);
  }

  @Get(':id')
  @Answers('RuleView', 'One rule')
  @Requires('read')
  get(@Param('id', IdPipe) id: number): Promise<RuleView> {
    return this.rules.get(id);
  }

  @Post()
  @Answers('RuleView', 'Adds a manual rule')
  @Fails('UNPROCESSABLE')
  @Requires('write')
  create(@Body() body: RuleBody): Promise<RuleView> {
    return this.rules.create(body);
  }

  @Post('test')
  @Answers('RuleTestResponse', 'Shows which rule an address matches')
  @Fails('KERNEL_UNAVAILABLE')
  @HttpCode(200)
  @Requires('read')
  test(@Body() body: RuleTestBody): Promise<RuleTestResponse> {
    return this.testRoute.run(body);
  }

  @Put(':id')
  @Answers('RuleView', 'Changes a manual rule')
  @Fails('CONFLICT', 'UNPROCESSABLE')
  @Requires('write')
  update(@Param('id', IdPipe) id: number, @Body() body: RuleBody): Promise<RuleView> {
    return this.rules.update(id, body);
  }

  @Delete(':id')
  @Answers('RuleDeletedResponse', 'Deletes a manual rule')
  @Fails('CONFLICT')
  @Requires('write')
  remove(@Param('id', IdPipe) id: number): Promise<RuleDeletedResponse> {
    return this.rules.remove(id);
  }
}
