import { CurrentActor, Requires, type Actor } from '@gatehouse/auth';
import { AnswersEvents, Fails } from '@gatehouse/platform';
import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ChangeStream } from './change-stream.js';

@Controller('changes')
export class ChangesController {
  constructor(private readonly changes: ChangeStream) {}

  @Get()
  @AnswersEvents('Streams the names of changed lists')
  @Fails('SERVICE_UNAVAILABLE')
  @Requires('read')
  follow(@CurrentActor() actor: Actor | null, @Req() request: Request, @Res() response: Response): Promise<void> {
    return this.changes.send({ actor, request, response });
  }
}
