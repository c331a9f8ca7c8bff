import type { AppError } from '@gatehouse/platform';
import { Body, Get, Post, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { EndpointSwitchBody } from '../../administration/administration.dto.js';
import { AuditTrail } from '../../audit/audit-trail.js';
import { EndpointSwitches } from '../../open-api/endpoint-switches.js';
import { FormValues, refusalOf, validated } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { done, noticeOf } from '../parts/notices.js';
import { PageController } from '../parts/page-controller.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { eventsPage, operationsPage } from './operations.view.js';

const PAGE_SIZE = 100;

@PageController('admin', 'administrator')
export class AdminOperationPagesController {
  constructor(
    private readonly trail: AuditTrail,
    private readonly switches: EndpointSwitches,
  ) {}

  @Get('operations')
  list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    return this.send(response, visitor, { notice: noticeOf(visitor, query) });
  }

  @Post('operations')
  async switch(@CurrentVisitor() visitor: Member, @Body() body: object, @Res() response: Response): Promise<void> {
    const values = new FormValues(body);
    const problem = await refusalOf(async () => {
      const {
        operation,
        enabled,
        reason = '',
      } = validated(EndpointSwitchBody, {
        operation: values.text('operation').trim(),
        enabled: values.isChecked('enabled'),
        reason: values.optional('reason'),
      });
      if (enabled) await this.switches.enable(operation, visitor.account.id);
      else await this.switches.disable(operation, reason, visitor.account.id);
    });
    if (problem === undefined) response.redirect(303, done('/admin/operations', 'endpoint'));
    else await this.send(response, visitor, { values, problem });
  }

  @Get('events')
  async events(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const values = new FormValues(query);
    const selection = {
      type: values.optional('search')?.slice(0, 60),
      userId: wholeNumber(values.text('user_id')),
      before: wholeNumber(values.text('before')),
    };
    const found = await this.trail.list({ ...selection, limit: PAGE_SIZE + 1 });
    const entries = found.slice(0, PAGE_SIZE);
    const hasMore = found.length > PAGE_SIZE;
    const body = eventsPage(visitor, { entries, hasMore, ...selection });
    sendPage(response, visitor, { title: visitor.words.text('admin.events'), body });
  }

  private async send(
    response: Response,
    visitor: Member,
    { notice, ...state }: { notice?: string | undefined; values?: FormValues; problem?: AppError | undefined },
  ): Promise<void> {
    const body = operationsPage(visitor, await this.switches.list(), state);
    sendPage(response, visitor, {
      title: visitor.words.text('admin.operations'),
      body,
      notice,
      problem: state.problem,
    });
  }
}

function wholeNumber(text: string): number | undefined {
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
