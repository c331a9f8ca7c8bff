import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiEnvelope, ApiEnvelopeArray, ApiEnvelopeList } from '../wire/api-envelope.js';
import { CurrentUserId } from '../wire/current-user.js';
import { Enveloped } from '../wire/envelope.js';
import { ClientIdPipe, IdPipe } from '../wire/path-values.js';
import { ApplicationDeliveryQuery, NewApplicationWebhookBody, ApplicationWebhookChangeBody } from './webhook.dto.js';
import { WebhookLog } from './webhook-log.js';
import {
  DeliveryDetailsView,
  DeliveryView,
  NewWebhookView,
  ReplayedView,
  toDeliveryDetailsView,
  toDeliveryView,
  toWebhookView,
  WebhookSecretView,
  WebhookView,
} from './webhook.view.js';
import { Webhooks } from './webhooks.service.js';

const ClientId = (): ParameterDecorator => Param('client_id', ClientIdPipe);
const Id = (): ParameterDecorator => Param('id', IdPipe);
const DeliveryId = (): ParameterDecorator => Param('delivery_id', IdPipe);

@ApiTags('webhooks')
@Controller('api/site/applications/:client_id/webhooks')
export class WebhooksController {
  constructor(
    private readonly webhooks: Webhooks,
    private readonly log: WebhookLog,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Webhooks of an application' })
  @ApiEnvelopeList(WebhookView)
  async list(@CurrentUserId() ownerId: number, @ClientId() clientId: string): Promise<Enveloped> {
    const found = await this.webhooks.list({ ownerId, clientId });
    return new Enveloped(found.map(toWebhookView), { total: found.length });
  }

  @Post()
  @HttpCode(200)
  @ApiOperation({ summary: 'Create a webhook; its secret is shown only once' })
  @ApiEnvelope(NewWebhookView)
  async create(
    @CurrentUserId() ownerId: number,
    @ClientId() clientId: string,
    @Body() { name, url, event_types: eventTypes, test_events: testEvents }: NewApplicationWebhookBody,
  ): Promise<NewWebhookView> {
    const { webhook, secret } = await this.webhooks.create(
      { ownerId, clientId },
      { name, url, eventTypes, testEvents },
    );
    return Object.assign(toWebhookView(webhook), { secret });
  }

  @Get(':id')
  @ApiOperation({ summary: 'One webhook' })
  @ApiEnvelope(WebhookView)
  async one(@CurrentUserId() ownerId: number, @ClientId() clientId: string, @Id() id: number): Promise<WebhookView> {
    return toWebhookView(await this.webhooks.one({ ownerId, clientId }, id));
  }

  @Patch(':id')
  @ApiOperation({ summary: 'Change a webhook' })
  @ApiEnvelope(WebhookView)
  async update(
    @CurrentUserId() ownerId: number,
    @ClientId() clientId: string,
    @Id() id: number,
    @Body() { event_types: eventTypes, test_events: testEvents, ...change }: ApplicationWebhookChangeBody,
  ): Promise<WebhookView> {
    const wanted = { ...change, testEvents, ...(eventTypes !== undefined && { eventTypes }) };
    return toWebhookView(await this.webhooks.update({ ownerId, clientId }, id, wanted));
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Delete a webhook with its deliveries' })
  @ApiEnvelope()
  remove(@CurrentUserId() ownerId: number, @ClientId() clientId: string, @Id() id: number): Promise<void> {
    return this.webhooks.remove({ ownerId, clientId }, id);
  }

  @Post(':id/secret')
  @HttpCode(200)
  @ApiOperation({ summary: 'Replace the secret of a webhook; the new one is shown only once' })
  @ApiEnvelope(WebhookSecretView)
  async replaceSecret(
    @CurrentUserId() ownerId: number,
    @ClientId() clientId: string,
    @Id() id: number,
  ): Promise<WebhookSecretView> {
    return { secret: await this.webhooks.replaceSecret({ ownerId, clientId }, id) };
  }

  @Post(':id/test')
  @HttpCode(200)
  @ApiOperation({ summary: 'Send a test message, and return the result' })
  @ApiEnvelope(DeliveryDetailsView)
  async test(
    @CurrentUserId() ownerId: number,
    @ClientId() clientId: string,
    @Id() id: number,
  ): Promise<DeliveryDetailsView> {
    return toDeliveryDetailsView(await this.log.test({ ownerId, clientId }, id));
  }

  @Post(':id/replay')
  @HttpCode(200)
  @ApiOperation({ summary: 'Send everything again that was given up' })
  @ApiEnvelope(ReplayedView)
  async replayGivenUp(
    @CurrentUserId() ownerId: number,
    @ClientId() clientId: string,
    @Id() id: number,
  ): Promise<ReplayedView> {
    return { replayed: await this.log.replayGivenUp({ ownerId, clientId }, id) };
  }

  @Get(':id/deliveries')
  @ApiOperation({ summary: 'Deliveries of a webhook, newest first' })
  @ApiEnvelopeArray(DeliveryView)
  async deliveries(
    @CurrentUserId() ownerId: number,
    @ClientId() clientId: string,
    @Id() id: number,
    @Query() query: ApplicationDeliveryQuery,
  ): Promise<DeliveryView[]> {
    return (await this.log.list({ ownerId, clientId }, id, query)).map(toDeliveryView);
  }

  @Get(':id/deliveries/:delivery_id')
  @ApiOperation({ summary: 'One delivery with its message and its attempts' })
  @ApiEnvelope(DeliveryDetailsView)
  async delivery(
    @CurrentUserId() ownerId: number,
    @ClientId() clientId: string,
    @Id() id: number,
    @DeliveryId() deliveryId: number,
  ): Promise<DeliveryDetailsView> {
    return toDeliveryDetailsView(await this.log.one({ ownerId, clientId }, id, deliveryId));
  }

  @Post(':id/deliveries/:delivery_id/replay')
  @HttpCode(200)
  @ApiOperation({ summary: 'Send one message again' })
  @ApiEnvelope(DeliveryDetailsView)
  async replay(
    @CurrentUserId() ownerId: number,
    @ClientId() clientId: string,
    @Id() id: number,
    @DeliveryId() deliveryId: number,
  ): Promise<DeliveryDetailsView> {
    return toDeliveryDetailsView(await this.log.replay({ ownerId, clientId }, id, deliveryId));
  }
}
