import { Global, Module } from '@nestjs/common';
import { EventLog } from './event-log.js';

/** Provides the event log to every module, in the service and in its worker. */
@Global()
@Module({ providers: [EventLog], exports: [EventLog] })
export class EventsModule {}
