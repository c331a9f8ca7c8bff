import { Module } from '@nestjs/common';
import { IpRulesModule } from '../ip-rules/ip-rules.module.js';
import { EventFeed } from './event-feed.js';
import { EventStream } from './event-stream.js';
import { EventsController } from './events.controller.js';
import { EventsReader } from './events-reader.js';
import { StreamPermit } from './stream-permit.js';

/** The REST API of events. */
@Module({
  imports: [IpRulesModule],
  controllers: [EventsController],
  providers: [EventsReader, EventStream, EventFeed, StreamPermit],
  exports: [EventsReader, EventFeed],
})
export class EventsApiModule {}
