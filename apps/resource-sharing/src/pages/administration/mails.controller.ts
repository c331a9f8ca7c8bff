import { Get, Param, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { MailAdministration } from '../../administration/mail-administration.js';
import { IdPipe } from '../../wire/path-values.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { sendPage } from '../parts/layout.js';
import { PageController } from '../parts/page-controller.js';
import { pageNumber } from '../parts/tables.js';
import { mailPage, mailsPage } from './mails.view.js';

const PAGE_SIZE = 50;

/** Mails to users; their texts too, as long as no server sends them. */
@PageController('admin/mails', 'administrator')
export class AdminMailPagesController {
  constructor(private readonly mails: MailAdministration) {}

  @Get()
  async list(
    @CurrentVisitor() visitor: Member,
    @Query() query: { page?: unknown },
    @Res() response: Response,
  ): Promise<void> {
    const page = pageNumber(query.page);
    const found = await this.mails.list({ limit: PAGE_SIZE + 1, offset: (page - 1) * PAGE_SIZE });
    const hasMore = found.length > PAGE_SIZE;
    const { isConfigured } = this.mails;
    const body = mailsPage(visitor, { mails: found.slice(0, PAGE_SIZE), page, hasMore, isConfigured });
    sendPage(response, visitor, { title: visitor.words.text('admin.mails'), body });
  }

  @Get(':id')
  async one(
    @CurrentVisitor() visitor: Member,
    @Param('id', IdPipe) id: number,
    @Res() response: Response,
  ): Promise<void> {
    const { mail, text } = await this.mails.read(visitor.account.id, id);
    sendPage(response, visitor, { title: text.subject, body: mailPage(visitor, mail, text), secretive: true });
  }
}
