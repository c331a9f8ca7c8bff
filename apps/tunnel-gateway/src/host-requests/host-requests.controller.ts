import { CurrentActor, type Actor } from '@gatehouse/auth';
import type { HarArchive, HostReplayView, HostRequestDetail, HostRequestPage } from '@gatehouse/contracts';
import { Answers, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { HostReplays } from './host-replays.js';
import { HostRequestFilter, ReplayBody } from './host-request.dto.js';
import { HostRequestsService } from './host-requests.service.js';
import { RequestIdPipe } from './request-id.pipe.js';

@ApiTags('hosts')
@Controller('hosts/:id')
export class HostRequestsController {
  constructor(
    private readonly requests: HostRequestsService,
    private readonly replays: HostReplays,
  ) {}

  @Get('requests')
  @Answers('HostRequestPage', 'Lists the last requests of a host')
  @Fails('EDGE_UNAVAILABLE')
  list(
    @Param('id', IdPipe) id: number,
    @Query() query: HostRequestFilter,
    @CurrentActor() actor: Actor,
  ): Promise<HostRequestPage> {
    return this.requests.list(id, query, actor);
  }

  @Get('requests/har')
  @Answers('HarArchive', 'Exports the last requests of a host as HAR')
  @Fails('EDGE_UNAVAILABLE')
  har(
    @Param('id', IdPipe) id: number,
    @Query() query: HostRequestFilter,
    @CurrentActor() actor: Actor,
  ): Promise<HarArchive> {
    return this.requests.har(id, query, actor);
  }

  @Get('requests/:requestId')
  @Answers('HostRequestDetail', 'Returns one request of a host')
  @Fails('EDGE_UNAVAILABLE')
  get(
    @Param('id', IdPipe) id: number,
    @Param('requestId', RequestIdPipe) requestId: string,
    @CurrentActor() actor: Actor,
  ): Promise<HostRequestDetail> {
    return this.requests.get(id, requestId, actor);
  }

  @Post('replay')
  @HttpCode(200)
  @Answers('HostReplayView', 'Sends a recorded request again')
  @Fails('EDGE_UNAVAILABLE', 'UNPROCESSABLE', 'CONFLICT')
  replay(
    @Param('id', IdPipe) id: number,
    @Body() body: ReplayBody,
    @CurrentActor() actor: Actor,
  ): Promise<HostReplayView> {
    return this.replays.send(id, body, actor);
  }
}
