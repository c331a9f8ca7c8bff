import { Requires } from '@gatehouse/auth';
import type { TunnelEdgeList, TunnelEdgeView } from '@gatehouse/contracts';
import { Answers, Fails } from '@gatehouse/platform';
import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { EdgeIdPipe } from './edge-id.pipe.js';
import { EdgeDirectory } from './edge-directory.js';

@ApiTags('edges')
@Controller('edges')
@Requires('admin')
export class EdgesController {
  constructor(private readonly edges: EdgeDirectory) {}

  @Get()
  @Answers('TunnelEdgeList', 'Lists edges')
  list(): Promise<TunnelEdgeList> {
    return this.edges.list();
  }

  @Post(':id/drain')
  @HttpCode(200)
  @Answers('TunnelEdgeView', 'Drains an edge')
  @Fails('NOT_FOUND', 'CONFLICT')
  drain(@Param('id', EdgeIdPipe) id: string): Promise<TunnelEdgeView> {
    return this.edges.want(id, 'drained');
  }

  @Post(':id/serve')
  @HttpCode(200)
  @Answers('TunnelEdgeView', 'Lets a drained edge serve again')
  @Fails('NOT_FOUND')
  serve(@Param('id', EdgeIdPipe) id: string): Promise<TunnelEdgeView> {
    return this.edges.want(id, 'serving');
  }
}
