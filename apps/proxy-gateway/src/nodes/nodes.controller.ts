import { CurrentActor, Requires } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import type { NodeView, Page } from '@gatehouse/contracts';
import { Answers, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, Param, Post, Put, Query } from '@nestjs/common';
import { NewNodeBody, NodeChanges, NodeQuery } from './node.dto.js';
import { NodesService } from './nodes.service.js';

@Controller('proxies')
export class NodesController {
  constructor(private readonly nodes: NodesService) {}

  @Get()
  @Answers('NodePage', 'A page of the nodes')
  @Requires('read')
  list(@Query() query: NodeQuery, @CurrentActor() actor: Actor | null): Promise<Page<NodeView>> {
    return this.nodes.list(query, actor);
  }

  @Post()
  @Answers('NodeView', 'Adds a manual node')
  @Fails('CONFLICT')
  @Requires('write')
  create(@Body() body: NewNodeBody, @CurrentActor() actor: Actor | null): Promise<NodeView> {
    return this.nodes.create(body, actor);
  }

  @Put(':id')
  @Answers('NodeView', 'Changes a node')
  @Fails('CONFLICT')
  @Requires('write')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: NodeChanges,
    @CurrentActor() actor: Actor | null,
  ): Promise<NodeView> {
    return this.nodes.update(id, body, actor);
  }

  @Delete(':id')
  @Answers('NodeDeletedResponse', 'Deletes a manual node')
  @Fails('CONFLICT')
  @Requires('write')
  remove(@Param('id', IdPipe) id: number): ReturnType<NodesService['remove']> {
    return this.nodes.remove(id);
  }
}
