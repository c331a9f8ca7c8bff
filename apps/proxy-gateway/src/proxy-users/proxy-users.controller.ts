import { CurrentActor, Requires, type Actor } from '@gatehouse/auth';
import type { ProxyUserDeleted, ProxyUserPage, ProxyUserTraffic, ProxyUserView } from '@gatehouse/contracts';
import { Answers, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, Header, HttpCode, Param, Patch, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { IfMatch, versionTag } from '../wire/if-match.js';
import { NewProxyUser, ProxyUserChanges, ProxyUserQuery, TrafficQuery } from './proxy-user.dto.js';
import { ProxyUsersService } from './proxy-users.service.js';

/** The users of the proxy's ports. They have no access to this API. */
@Controller('proxy-users')
export class ProxyUsersController {
  constructor(private readonly users: ProxyUsersService) {}

  @Get()
  @Answers('ProxyUserPage', 'A page of the users of the proxy')
  @Requires('read')
  @Header('Cache-Control', 'no-store')
  list(@Query() query: ProxyUserQuery, @CurrentActor() actor: Actor | null): Promise<ProxyUserPage> {
    return this.users.list(query, actor);
  }

  @Get(':id')
  @Answers('ProxyUserView', 'One user of the proxy')
  @Requires('read')
  @Header('Cache-Control', 'no-store')
  async get(
    @Param('id', IdPipe) id: number,
    @CurrentActor() actor: Actor | null,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ProxyUserView> {
    return tagged(await this.users.get(id, actor), response);
  }

  @Post()
  @Answers('ProxyUserView', 'Adds a user of the proxy')
  @Fails('CONFLICT')
  @Requires('write')
  @Header('Cache-Control', 'no-store')
  create(@Body() body: NewProxyUser): Promise<ProxyUserView> {
    return this.users.create(body);
  }

  @Patch(':id')
  @Answers('ProxyUserView', 'Changes a user of the proxy')
  @Fails('CONFLICT')
  @Requires('write')
  @Header('Cache-Control', 'no-store')
  async update(
    @Param('id', IdPipe) id: number,
    @Body() body: ProxyUserChanges,
    @IfMatch() ifMatch: string | undefined,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ProxyUserView> {
    return tagged(await this.users.update(id, body, ifMatch), response);
  }

  @Post(':id/reset-traffic')
  @Answers('ProxyUserView', 'Begins to count the traffic of the present period again')
  @HttpCode(200)
  @Requires('write')
  @Header('Cache-Control', 'no-store')
  resetTraffic(@Param('id', IdPipe) id: number): Promise<ProxyUserView> {
    return this.users.resetTraffic(id);
  }

  @Get(':id/traffic')
  @Answers('ProxyUserTraffic', 'What a user of the proxy carried, hour by hour')
  @Requires('read')
  traffic(@Param('id', IdPipe) id: number, @Query() query: TrafficQuery): Promise<ProxyUserTraffic> {
    return this.users.traffic(id, query);
  }

  @Delete(':id')
  @Answers('ProxyUserDeleted', 'Deletes a user of the proxy; its connections end')
  @Requires('write')
  remove(@Param('id', IdPipe) id: number): Promise<ProxyUserDeleted> {
    return this.users.remove(id);
  }
}

function tagged(view: ProxyUserView, response: Response): ProxyUserView {
  response.setHeader('ETag', versionTag(view.updated_at));
  return view;
}
