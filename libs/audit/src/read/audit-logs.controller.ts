import { Requires } from '@gatehouse/auth';
import { Answers } from '@gatehouse/platform';
import type { AuditLogPage, AuditVerification } from '@gatehouse/contracts';
import { Controller, Get, Query } from '@nestjs/common';
import { AuditLogQuery } from './audit-log.dto.js';
import { AuditLogsService } from './audit-logs.service.js';

@Controller('audit-logs')
@Requires('admin')
export class AuditLogsController {
  constructor(private readonly logs: AuditLogsService) {}

  @Get()
  @Answers('AuditLogPage', 'Lists the audit log')
  list(@Query() query: AuditLogQuery): Promise<AuditLogPage> {
    return this.logs.list(query);
  }

  @Get('verify')
  @Answers('AuditVerification', 'Verifies the audit log')
  verify(): Promise<AuditVerification> {
    return this.logs.verify();
  }
}
