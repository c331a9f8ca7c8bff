import { CurrentActor, type Actor } from '@gatehouse/auth';
import type {
  NewTunnelClientView,
  RotatedClientKeyView,
  TunnelClientPage,
  TunnelClientView,
  TunnelConnectionList,
} from '@gatehouse/contracts';
import { Answers, AnswersNothing, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IfMatch } from '../wire/if-match.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { ClientChanges, ClientQuery, ConnectionQuery, KeyRotation, LeaseBody, NewClientBody } from './client.dto.js';
import { ClientsService } from './clients.service.js';

@ApiTags('clients')
@Controller('clients')
export class ClientsController {
  constructor(private readonly clients: ClientsService) {}

  @Get()
  @Answers('TunnelClientPage', 'Lists clients')
  list(@Query() query: ClientQuery, @CurrentActor() actor: Actor): Promise<TunnelClientPage> {
    return this.clients.list(query, actor);
  }

  @Post()
  @Answers('NewTunnelClientView', 'Creates a client and shows its key once')
  create(@Body() body: NewClientBody, @CurrentActor() actor: Actor): Promise<NewTunnelClientView> {
    return this.clients.create(body, actor);
  }

  @Get(':id')
  @Answers('TunnelClientView', 'Returns one client')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<TunnelClientView> {
    return this.clients.get(id, actor);
  }

  @Patch(':id')
  @Answers('TunnelClientView', 'Changes a client')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: ClientChanges,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<TunnelClientView> {
    return this.clients.update(id, body, actor, expected);
  }

  @Delete(':id')
  @HttpCode(204)
  @AnswersNothing('Deletes a client')
  remove(
    @Param('id', IdPipe) id: number,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<void> {
    return this.clients.remove(id, actor, expected);
  }

  @Post(':id/rotate-key')
  @HttpCode(200)
  @Answers('RotatedClientKeyView', 'Replaces the key of a client and shows it once')
  rotateKey(
    @Param('id', IdPipe) id: number,
    @Body() body: KeyRotation,
    @CurrentActor() actor: Actor,
  ): Promise<RotatedClientKeyView> {
    return this.clients.rotateKey(id, body, actor);
  }

  @Post(':id/lease')
  @HttpCode(204)
  @AnswersNothing('Makes a client temporary, or renews its lease')
  lease(@Param('id', IdPipe) id: number, @Body() { seconds }: LeaseBody, @CurrentActor() actor: Actor): Promise<void> {
    return this.clients.lease(id, seconds, actor);
  }

  @Post(':id/kick')
  @HttpCode(204)
  @AnswersNothing('Disconnects the agent of a client')
  @Fails('EDGE_UNAVAILABLE')
  kick(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<void> {
    return this.clients.kick(id, actor);
  }

  @Post(':id/reset-traffic')
  @HttpCode(200)
  @Answers('TunnelClientView', 'Resets the traffic totals of a client')
  resetTraffic(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<TunnelClientView> {
    return this.clients.resetTraffic(id, actor);
  }

  @Get(':id/connections')
  @Answers('TunnelConnectionList', 'Lists connected visitors of a client')
  @Fails('EDGE_UNAVAILABLE')
  connections(
    @Param('id', IdPipe) id: number,
    @Query() { limit }: ConnectionQuery,
    @CurrentActor() actor: Actor,
  ): Promise<TunnelConnectionList> {
    return this.clients.connections(id, limit, actor);
  }
}
