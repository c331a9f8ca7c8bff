import { Global, Module } from '@nestjs/common';
import { EventLog } from './event-log.js';

/** Gives every module, of the service and of its worker, the place where events are recorded. */
@Global()
@Module({ providers: [EventLog], exports: [EventLog] })
export class EventsModule {}
