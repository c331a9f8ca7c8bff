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
import { ClientChanges, ClientQuery, ConnectionQuery, KeyRotation, NewClientBody } from './client.dto.js';
import { ClientsService } from './clients.service.js';

@ApiTags('clients')
@Controller('clients')
export class ClientsController {
  constructor(private readonly clients: ClientsService) {}

  @Get()
  @Answers('TunnelClientPage', 'Clients, a page at a time')
  list(@Query() query: ClientQuery, @CurrentActor() actor: Actor): Promise<TunnelClientPage> {
    return this.clients.list(query, actor);
  }

  @Post()
  @Answers('NewTunnelClientView', 'Adds a client; its key is shown this once')
  create(@Body() body: NewClientBody, @CurrentActor() actor: Actor): Promise<NewTunnelClientView> {
    return this.clients.create(body, actor);
  }

  @Get(':id')
  @Answers('TunnelClientView', 'One client')
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
  @AnswersNothing('Removes a client with its tunnels and hosts')
  remove(
    @Param('id', IdPipe) id: number,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<void> {
    return this.clients.remove(id, actor, expected);
  }

  @Post(':id/rotate-key')
  @HttpCode(200)
  @Answers(
    'RotatedClientKeyView',
    'Gives a client another key, shown this once; the old one ends now, or after a grace period',
  )
  rotateKey(
    @Param('id', IdPipe) id: number,
    @Body() body: KeyRotation,
    @CurrentActor() actor: Actor,
  ): Promise<RotatedClientKeyView> {
    return this.clients.rotateKey(id, body, actor);
  }

  @Post(':id/kick')
  @HttpCode(204)
  @AnswersNothing("Ends the agent's session and all connections; the agent may come back")
  @Fails('EDGE_UNAVAILABLE')
  kick(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<void> {
    return this.clients.kick(id, actor);
  }

  @Post(':id/reset-traffic')
  @HttpCode(200)
  @Answers('TunnelClientView', 'Totals of a client, its tunnels and hosts start from zero; those by time stay')
  resetTraffic(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<TunnelClientView> {
    return this.clients.resetTraffic(id, actor);
  }

  @Get(':id/connections')
  @Answers('TunnelConnectionList', 'Visitors who are connected')
  @Fails('EDGE_UNAVAILABLE')
  connections(
    @Param('id', IdPipe) id: number,
    @Query() { limit }: ConnectionQuery,
    @CurrentActor() actor: Actor,
  ): Promise<TunnelConnectionList> {
    return this.clients.connections(id, limit, actor);
  }
}
