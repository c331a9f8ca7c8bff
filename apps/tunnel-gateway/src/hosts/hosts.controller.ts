import { CurrentActor, type Actor } from '@gatehouse/auth';
import type { HostPage, HostView } from '@gatehouse/contracts';
import { Answers, AnswersNothing, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IfMatch } from '../wire/if-match.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { HostChanges, HostQuery, NewHostBody } from './host.dto.js';
import { HostsService } from './hosts.service.js';

@ApiTags('hosts')
@Controller('hosts')
export class HostsController {
  constructor(private readonly hosts: HostsService) {}

  @Get()
  @Answers('HostPage', 'Lists hosts')
  list(@Query() query: HostQuery, @CurrentActor() actor: Actor): Promise<HostPage> {
    return this.hosts.list(query, actor);
  }

  @Post()
  @Answers('HostView', 'Creates a host')
  @Fails('NOT_FOUND', 'HOST_CONFLICT')
  create(@Body() body: NewHostBody, @CurrentActor() actor: Actor): Promise<HostView> {
    return this.hosts.create(body, actor);
  }

  @Get(':id')
  @Answers('HostView', 'Returns one host')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<HostView> {
    return this.hosts.get(id, actor);
  }

  @Patch(':id')
  @Answers('HostView', 'Changes a host')
  @Fails('HOST_CONFLICT')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: HostChanges,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<HostView> {
    return this.hosts.update(id, body, actor, expected);
  }

  @Delete(':id')
  @HttpCode(204)
  @AnswersNothing('Deletes a host')
  remove(
    @Param('id', IdPipe) id: number,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<void> {
    return this.hosts.remove(id, actor, expected);
  }
}
