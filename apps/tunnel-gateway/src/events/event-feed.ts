import { ChannelFeed, PgListener } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';

/** Notifies after each commit with events, from any process, and when some may have been missed. */
@Injectable()
export class EventFeed extends ChannelFeed {
  constructor(listener: PgListener) {
    super(listener, 'tunnel_gateway:events', '');
  }
}
