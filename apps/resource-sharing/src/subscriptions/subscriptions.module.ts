import { Module } from '@nestjs/common';
import { Inbox } from './inbox.service.js';
import { MessagesController } from './messages.controller.js';
import { SubscriptionsController } from './subscriptions.controller.js';
import { Subscriptions } from './subscriptions.service.js';

@Module({ controllers: [SubscriptionsController, MessagesController], providers: [Subscriptions, Inbox] })
export class SubscriptionsModule {}
