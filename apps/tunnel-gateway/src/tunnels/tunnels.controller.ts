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
  @Answers('TunnelPage', 'Tunnels, a page at a time')
  list(@Query() query: TunnelQuery, @CurrentActor() actor: Actor): Promise<TunnelPage> {
    return this.tunnels.list(query, actor);
  }

  @Post()
  @Answers('NewTunnelView', 'Adds a tunnel; port 0 becomes a free one of the range')
  @Fails('NOT_FOUND', 'PORT_IN_USE', 'PORT_RESERVED')
  create(@Body() body: NewTunnelBody, @CurrentActor() actor: Actor): Promise<NewTunnelView> {
    return this.tunnels.create(body, actor);
  }

  @Get(':id')
  @Answers('TunnelView', 'One tunnel')
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
  @AnswersNothing('Removes a tunnel')
  remove(
    @Param('id', IdPipe) id: number,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<void> {
    return this.tunnels.remove(id, actor, expected);
  }

  @Post(':id/start')
  @HttpCode(200)
  @Answers('TunnelView', 'Serves a tunnel')
  start(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<TunnelView> {
    return this.tunnels.update(id, { status: 1 }, actor);
  }

  @Post(':id/stop')
  @HttpCode(200)
  @Answers('TunnelView', 'Serves a tunnel no more; its visitors are cut off')
  stop(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<TunnelView> {
    return this.tunnels.update(id, { status: 0 }, actor);
  }

  @Post(':id/rotate-visitor-key')
  @HttpCode(200)
  @Answers('NewTunnelView', 'Gives the visitors of a secret or p2p tunnel another key, shown this once')
  @Fails('CONFLICT')
  rotateVisitorKey(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<NewTunnelView> {
    return this.tunnels.rotateVisitorKey(id, actor);
  }
}
