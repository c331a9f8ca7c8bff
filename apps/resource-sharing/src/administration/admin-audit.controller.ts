import { AuditLogQuery, AuditLogsService } from '@gatehouse/audit';
import { Requires } from '@gatehouse/auth';
import type { AuditLogPage, AuditVerification } from '@gatehouse/contracts';
import { Controller, Get, Query } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { ApiEnvelope } from '../wire/api-envelope.js';
import { AuditLogPageView, AuditVerificationView } from './audit-log.view.js';

@ApiTags('administration')
@Requires('admin')
@Controller('api/site/admin/audit-logs')
export class AdminAuditController {
  constructor(private readonly logs: AuditLogsService) {}

  @Get()
  @ApiOperation({ summary: 'The audit log, newest first: administration, logins and all events, in one chain' })
  @ApiEnvelope(AuditLogPageView)
  list(@Query() query: AuditLogQuery): Promise<AuditLogPage> {
    return this.logs.list(query);
  }

  @Get('verify')
  @ApiOperation({ summary: 'Verify the hash chain of the audit log against the copy outside the database' })
  @ApiEnvelope(AuditVerificationView)
  verify(): Promise<AuditVerification> {
    return this.logs.verify();
  }
}
