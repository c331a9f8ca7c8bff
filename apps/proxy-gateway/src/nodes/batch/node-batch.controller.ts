import { Requires } from '@gatehouse/auth';
import type { NodeBatchResult, NodeIds } from '@gatehouse/contracts';
import { Answers } from '@gatehouse/platform';
import { Body, Controller, Get, HttpCode, Post, Query } from '@nestjs/common';
import { NodesQuery } from '../nodes.query.js';
import { NodeConditions } from '../node.dto.js';
import { NodeBatchBody } from './node-batch.dto.js';
import { NodeBatch } from './node-batch.js';

/** Many nodes at once. */
@Controller('proxies')
export class NodeBatchController {
  constructor(
    private readonly query: NodesQuery,
    private readonly batch: NodeBatch,
  ) {}

  @Get('ids')
  @Answers('NodeIds', 'The ids of all nodes that match')
  @Requires('read')
  ids(@Query() query: NodeConditions): Promise<NodeIds> {
    return this.query.ids(query);
  }

  @Post('batch')
  @Answers('NodeBatchResult', 'Enables, disables, deletes or tags many nodes')
  @HttpCode(200)
  @Requires('write')
  run(@Body() body: NodeBatchBody): Promise<NodeBatchResult> {
    return this.batch.run(body);
  }
}
