import { CurrentActor, type Actor } from '@gatehouse/auth';
import type {
  NewWebhookView,
  WebhookDeliveryPage,
  WebhookDeliveryView,
  WebhookPage,
  WebhookSecretView,
  WebhookView,
} from '@gatehouse/contracts';
import { Answers, AnswersNothing, Fails, IdPipe } from '@gatehouse/platform';
import { Body, Controller, Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { IfMatch } from '../wire/if-match.js';
import type { ExpectedVersion } from '../wire/row-version.js';
import { DeliveryQuery, NewWebhookBody, WebhookChanges, WebhookQuery } from './webhook.dto.js';
import { WebhooksService } from './webhooks.service.js';

@ApiTags('webhooks')
@Controller('webhooks')
export class WebhooksController {
  constructor(private readonly webhooks: WebhooksService) {}

  @Get()
  @Answers('WebhookPage', 'Lists webhooks')
  list(@Query() query: WebhookQuery, @CurrentActor() actor: Actor): Promise<WebhookPage> {
    return this.webhooks.list(query, actor);
  }

  @Post()
  @Fails('CONFLICT')
  @Answers('NewWebhookView', 'Creates a webhook and shows its secret once')
  create(@Body() body: NewWebhookBody, @CurrentActor() actor: Actor): Promise<NewWebhookView> {
    return this.webhooks.create(body, actor);
  }

  @Get(':id')
  @Answers('WebhookView', 'Returns one webhook')
  get(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<WebhookView> {
    return this.webhooks.get(id, actor);
  }

  @Patch(':id')
  @Answers('WebhookView', 'Changes a webhook')
  update(
    @Param('id', IdPipe) id: number,
    @Body() body: WebhookChanges,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<WebhookView> {
    return this.webhooks.update(id, body, actor, expected);
  }

  @Delete(':id')
  @HttpCode(204)
  @AnswersNothing('Deletes a webhook')
  remove(
    @Param('id', IdPipe) id: number,
    @CurrentActor() actor: Actor,
    @IfMatch() expected: ExpectedVersion | null,
  ): Promise<void> {
    return this.webhooks.remove(id, actor, expected);
  }

  @Post(':id/rotate-secret')
  @HttpCode(200)
  @Answers('WebhookSecretView', 'Replaces the secret of a webhook and shows it once')
  rotateSecret(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<WebhookSecretView> {
    return this.webhooks.rotateSecret(id, actor);
  }

  @Get(':id/deliveries')
  @Answers('WebhookDeliveryPage', 'Lists deliveries of a webhook')
  deliveries(
    @Param('id', IdPipe) id: number,
    @Query() query: DeliveryQuery,
    @CurrentActor() actor: Actor,
  ): Promise<WebhookDeliveryPage> {
    return this.webhooks.deliveries(id, query, actor);
  }

  @Post(':id/test')
  @HttpCode(200)
  @Fails('CONFLICT')
  @Answers('WebhookDeliveryView', 'Sends a test message')
  test(@Param('id', IdPipe) id: number, @CurrentActor() actor: Actor): Promise<WebhookDeliveryView> {
    return this.webhooks.test(id, actor);
  }
}
