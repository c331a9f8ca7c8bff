import { CurrentActor, Requires, type Actor } from '@gatehouse/auth';
import type { EndedSessionsView, TunnelSessionPage } from '@gatehouse/contracts';
import { Answers, AnswersNothing, IdPipe } from '@gatehouse/platform';
import { Controller, Delete, Get, HttpCode, Param, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { SessionQuery } from './session.dto.js';
import { SessionsService } from './sessions.service.js';

@ApiTags('sessions')
@Controller('sessions')
export class SessionsController {
  constructor(private readonly sessions: SessionsService) {}

  @Get()
  @Answers('TunnelSessionPage', 'Lists sessions')
  list(@Query() query: SessionQuery, @CurrentActor() actor: Actor): Promise<TunnelSessionPage> {
    return this.sessions.list(query, actor);
  }

  /** Read-only users may log out, too. */
  @Requires('read')
  @Delete()
  @Answers('EndedSessionsView', 'Ends all other sessions')
  endOthers(@CurrentActor() actor: Actor): Promise<EndedSessionsView> {
    return this.sessions.endOthers(actor);
  }

  @Requires('read')
  @Delete(':id')
  @HttpCode(204)
  @AnswersNothing('Ends a session')
  end(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<void> {
    return this.sessions.end(id, actor);
  }
}
