import { Global, Module } from '@nestjs/common';
import { AuditEventsController } from './audit-events.controller.js';
import { AuditTrail } from './audit-trail.service.js';

/** The audit trail: written by recordEvent(), read here. */
@Global()
@Module({ controllers: [AuditEventsController], providers: [AuditTrail], exports: [AuditTrail] })
export class AuditModule {}
