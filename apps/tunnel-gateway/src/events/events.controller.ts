import { CurrentActor, type Actor } from '@gatehouse/auth';
import { Answers, Fails } from '@gatehouse/platform';
import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { EventQuery } from './event.dto.js';
import { EventStream } from './event-stream.js';
import { EventsReader } from './events-reader.js';

const STREAM = 'text/event-stream';

@ApiTags('events')
@Controller('events')
export class EventsController {
  constructor(
    private readonly reader: EventsReader,
    private readonly stream: EventStream,
  ) {}

  @Get()
  @Answers('EventPage', 'Lists events, or streams new ones', {
    mediaTypes: [STREAM],
  })
  @Fails('SERVICE_UNAVAILABLE')
  async list(
    @Query() query: EventQuery,
    @CurrentActor() actor: Actor,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    response.vary('Accept');
    if (request.accepts(['application/json', STREAM]) === STREAM) {
      await this.stream.send({ query, actor, request, response });
    } else {
      response.json(await this.reader.page(query, actor));
    }
  }
}
