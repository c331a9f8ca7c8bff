import { ChannelFeed, PgListener } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';

/** Notifies after each commit with events for webhooks, from any process, and when some may have been missed. */
@Injectable()
export class ApplicationEventFeed extends ChannelFeed {
  constructor(listener: PgListener) {
    super(listener, 'resource_sharing:application_events', '');
  }
}
