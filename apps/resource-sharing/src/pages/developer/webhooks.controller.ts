import { Body, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Applications } from '../../applications/applications.service.js';
import { NewApplicationWebhookBody, ApplicationWebhookChangeBody } from '../../webhooks/webhook.dto.js';
import { WebhookLog } from '../../webhooks/webhook-log.js';
import { Webhooks } from '../../webhooks/webhooks.service.js';
import { IdPipe } from '../../wire/path-values.js';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { FormValues, refusalOf, validated } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { done, noticeOf } from '../parts/notices.js';
import { OneTimeTexts } from '../parts/one-time-texts.js';
import { PageController } from '../parts/page-controller.js';
import { shownOnce } from '../parts/tables.js';
import { deliveryPage, webhookPage } from './webhook.view.js';
import { webhooksPage, type WebhookFormState } from './webhooks.view.js';

const SHOWN_DELIVERIES = 50;
const Id = (): ParameterDecorator => Param('id', IdPipe);

type State = WebhookFormState & { readonly notice?: string | undefined };

@PageController('developer/:client_id/webhooks')
export class WebhookPagesController {
  constructor(
    private readonly applications: Applications,
    private readonly webhooks: Webhooks,
    private readonly log: WebhookLog,
    private readonly oneTime: OneTimeTexts,
  ) {}

  @Get()
  list(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Query() query: object,
    @Res() response: Response,
  ): Promise<void> {
    return this.sendList(response, visitor, clientId, { notice: noticeOf(visitor, query) });
  }

  @Post()
  async create(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Body() body: object,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    let made: { id: number; secret: string } | undefined;
    const problem = await refusalOf(async () => {
      const body = validated(NewApplicationWebhookBody, fieldsOf(values));
      const { name, url, event_types: eventTypes, test_events: testEvents } = body;
      const given = { name, url, eventTypes, testEvents };
      const { webhook, secret } = await this.webhooks.create(placeOf(visitor, clientId), given);
      made = { id: webhook.id, secret };
    });
    if (made === undefined) return this.sendList(response, visitor, clientId, { values, problem });
    await this.oneTime.keep(visitor, `webhook ${made.id}`, made.secret);
    response.redirect(303, done(`/developer/${clientId}/webhooks/${made.id}`, 'webhook'));
  }

  @Get(':id')
  async one(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Id() id: number,
    @Query() query: object,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const secret = await this.oneTime.take(visitor, `webhook ${id}`, request);
    const shown = shownOnce(visitor, visitor.words.text('webhooks.secret'), secret);
    const before = new FormValues(query).wholeNumber('before');
    const state = { notice: noticeOf(visitor, query), ...shown };
    await this.sendOne(response, visitor, { clientId, id, before }, state);
  }

  @Post(':id')
  async update(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Id() id: number,
    @Body() body: object,
    @Res() response: Response,
  ): Promise<void> {
    const values = new FormValues(body);
    const problem = await refusalOf(async () => {
      const fields = { ...fieldsOf(values), enabled: values.isChecked('enabled') };
      const body = validated(ApplicationWebhookChangeBody, fields);
      const { event_types: eventTypes = [], test_events: testEvents, ...change } = body;
      await this.webhooks.update(placeOf(visitor, clientId), id, { ...change, eventTypes, testEvents });
    });
    if (problem === undefined) response.redirect(303, done(`/developer/${clientId}/webhooks/${id}`, 'webhook-saved'));
    else await this.sendOne(response, visitor, { clientId, id }, { values, problem });
  }

  @Post(':id/delete')
  async remove(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Id() id: number,
    @Res() response: Response,
  ): Promise<void> {
    await this.webhooks.remove(placeOf(visitor, clientId), id);
    response.redirect(303, done(`/developer/${clientId}/webhooks`, 'webhook-removed'));
  }

  @Post(':id/secret')
  async replaceSecret(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Id() id: number,
    @Res() response: Response,
  ): Promise<void> {
    const secret = await this.webhooks.replaceSecret(placeOf(visitor, clientId), id);
    await this.oneTime.keep(visitor, `webhook ${id}`, secret);
    response.redirect(303, done(`/developer/${clientId}/webhooks/${id}`, 'webhook-secret'));
  }

  /** Leads to what the receiver answered. */
  @Post(':id/test')
  async test(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Id() id: number,
    @Res() response: Response,
  ): Promise<void> {
    const { id: deliveryId } = await this.log.test(placeOf(visitor, clientId), id);
    response.redirect(303, `/developer/${clientId}/webhooks/${id}/deliveries/${deliveryId}`);
  }

  @Post(':id/replay')
  async replayGivenUp(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Id() id: number,
    @Res() response: Response,
  ): Promise<void> {
    await this.log.replayGivenUp(placeOf(visitor, clientId), id);
    response.redirect(303, done(`/developer/${clientId}/webhooks/${id}`, 'webhook-replays'));
  }

  @Get(':id/deliveries/:delivery_id')
  async delivery(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Id() id: number,
    @Param('delivery_id', IdPipe) deliveryId: number,
    @Query() query: object,
    @Res() response: Response,
  ): Promise<void> {
    const delivery = await this.log.one(placeOf(visitor, clientId), id, deliveryId);
    const title = visitor.words.text('deliveries.one', { id: deliveryId });
    const body = deliveryPage(visitor, `/developer/${clientId}/webhooks/${id}`, delivery);
    sendPage(response, visitor, { title, body, notice: noticeOf(visitor, query) });
  }

  @Post(':id/deliveries/:delivery_id/replay')
  async replay(
    @CurrentVisitor() visitor: Member,
    @Param('client_id') clientId: string,
    @Id() id: number,
    @Param('delivery_id', IdPipe) deliveryId: number,
    @Res() response: Response,
  ): Promise<void> {
    await this.log.replay(placeOf(visitor, clientId), id, deliveryId);
    const path = `/developer/${clientId}/webhooks/${id}/deliveries/${deliveryId}`;
    response.redirect(303, done(path, 'webhook-replay'));
  }

  private async sendList(response: Response, visitor: Member, clientId: string, state: State): Promise<void> {
    const application = await this.applications.ofOwner(visitor.account.id, clientId);
    const found = await this.webhooks.list(placeOf(visitor, clientId));
    const body = webhooksPage(visitor, application, found, state);
    const { notice, problem } = state;
    sendPage(response, visitor, { title: visitor.words.text('webhooks.title'), body, notice, problem });
  }

  private async sendOne(
    response: Response,
    visitor: Member,
    { clientId, id, before }: { clientId: string; id: number; before?: number | undefined },
    state: State,
  ): Promise<void> {
    const place = placeOf(visitor, clientId);
    const webhook = await this.webhooks.one(place, id);
    const from = before !== undefined && Number.isSafeInteger(before) && before > 0 ? before : undefined;
    const found = await this.log.list(place, id, { before: from, limit: SHOWN_DELIVERIES + 1 });
    const deliveries = found.slice(0, SHOWN_DELIVERIES);
    const next = found.length > SHOWN_DELIVERIES ? deliveries.at(-1)?.id : undefined;
    const body = webhookPage(visitor, clientId, { webhook, deliveries, next }, state);
    const { notice, problem } = state;
    sendPage(response, visitor, { title: webhook.name, body, notice, problem });
  }
}

const placeOf = ({ account }: Member, clientId: string): { ownerId: number; clientId: string } => ({
  ownerId: account.id,
  clientId,
});

function fieldsOf(values: FormValues): Record<string, unknown> {
  return {
    name: values.text('name').trim(),
    url: values.text('url').trim(),
    event_types: values.list('event_types'),
    test_events: values.isChecked('test_events'),
  };
}
