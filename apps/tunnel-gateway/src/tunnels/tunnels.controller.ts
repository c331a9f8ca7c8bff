import { CurrentActor, type Actor } from '@gatehouse/auth';
import type { NewTunnelView, TunnelPage, TunnelView } from '@gatehouse/contracts';
import { Answers, AnswersNothing, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IfMatch } from '../wire/if-match.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { NewTunnelBody, TunnelChanges, TunnelQuery } from './tunnel.dto.js';
import { TunnelsService } from './tunnels.service.js';

@ApiTags('tunnels')
@Controller('tunnels')
export class TunnelsController {
  constructor(private readonly tunnels: TunnelsService) {}

  @Get()
  @Answers('TunnelPage', 'Lists tunnels')
  list(@Query() query: TunnelQuery, @CurrentActor() actor: Actor): Promise<TunnelPage> {
    return this.tunnels.list(query, actor);
  }

  @Post()
  @Answers('NewTunnelView', 'Creates a tunnel')
  @Fails('NOT_FOUND', 'PORT_IN_USE', 'PORT_RESERVED')
  create(@Body() body: NewTunnelBody, @CurrentActor() actor: Actor): Promise<NewTunnelView> {
    return this.tunnels.create(body, actor);
  }

  @Get(':id')
  @Answers('TunnelView', 'Returns one tunnel')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<TunnelView> {
    return this.tunnels.get(id, actor);
  }

  @Patch(':id')
  @Answers('TunnelView', 'Changes a tunnel')
  @Fails('PORT_IN_USE', 'PORT_RESERVED')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: TunnelChanges,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<TunnelView> {
    return this.tunnels.update(id, body, actor, expected);
  }

  @Delete(':id')
  @HttpCode(204)
  @AnswersNothing('Deletes a tunnel')
  remove(
    @Param('id', IdPipe) id: number,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<void> {
    return this.tunnels.remove(id, actor, expected);
  }

  @Post(':id/start')
  @HttpCode(200)
  @Answers('TunnelView', 'Starts a tunnel')
  start(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<TunnelView> {
    return this.tunnels.update(id, { status: 1 }, actor);
  }

  @Post(':id/stop')
  @HttpCode(200)
  @Answers('TunnelView', 'Stops a tunnel')
  stop(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<TunnelView> {
    return this.tunnels.update(id, { status: 0 }, actor);
  }

  @Post(':id/rotate-visitor-key')
  @HttpCode(200)
  @Answers('NewTunnelView', 'Replaces the visitor key of a tunnel and shows it once')
  @Fails('CONFLICT')
  rotateVisitorKey(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<NewTunnelView> {
    return this.tunnels.rotateVisitorKey(id, actor);
  }
}
