import { Module } from '@nestjs/common';
import { NoticesController } from './notices.controller.js';
import { Notices } from './notices.service.js';

/** What users should know of: events of the audit trail that data/sql/notices.sql chooses. */
@Module({ controllers: [NoticesController], providers: [Notices], exports: [Notices] })
export class NoticesModule {}
