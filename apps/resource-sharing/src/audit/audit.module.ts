import { Global, Module } from '@nestjs/common';
import { EventChain } from './event-chain.js';
import { AuditTrail } from './audit-trail.js';
import { OwnEventsController } from './own-events.controller.js';

/** The audit trail: written by recordEvent(), read here, and added to the chain of the audit log. */
@Global()
@Module({ controllers: [OwnEventsController], providers: [AuditTrail, EventChain], exports: [AuditTrail] })
export class AuditModule {}
