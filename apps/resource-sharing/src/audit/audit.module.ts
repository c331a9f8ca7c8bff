import { Global, Module } from '@nestjs/common';
import { AuditTrail } from './audit-trail.js';
import { OwnEventsController } from './own-events.controller.js';

/** The audit trail: written by recordEvent(), read here. */
@Global()
@Module({ controllers: [OwnEventsController], providers: [AuditTrail], exports: [AuditTrail] })
export class AuditModule {}
