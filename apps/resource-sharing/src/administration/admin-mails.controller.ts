import { Requires } from '@gatehouse/auth';
import { Fails } from '@gatehouse/platform';
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiEnvelope, ApiEnvelopeArray } from '../wire/api-envelope.js';
import { CurrentUserId } from '../wire/current-user.js';
import { IdPipe } from '../wire/path-values.js';
import { PageQuery } from './administration.dto.js';
import { MailAdministration } from './mail-administration.js';
import { KeptMailView, MailView, toKeptMailView, toMailView } from './mails.view.js';

@ApiTags('administration')
@Requires('admin')
@Controller('api/site/admin/mails')
export class AdminMailsController {
  constructor(private readonly mails: MailAdministration) {}

  @Get()
  @ApiOperation({ summary: 'Mails to users, newest first' })
  @ApiEnvelopeArray(MailView)
  async list(@Query() { page, page_size: limit }: PageQuery): Promise<MailView[]> {
    const found = await this.mails.list({ limit, offset: (page - 1) * limit });
    return found.map((mail) => toMailView(mail, this.mails.isConfigured));
  }

  @Get(':id')
  @ApiOperation({ summary: 'A mail that was kept because no mail server is configured' })
  @ApiEnvelope(KeptMailView)
  @Fails('NOT_FOUND', 'CONFLICT')
  async one(@CurrentUserId() actorId: number, @Param('id', IdPipe) id: number): Promise<KeptMailView> {
    const { mail, text } = await this.mails.read(actorId, id);
    return toKeptMailView(mail, text);
  }
}
