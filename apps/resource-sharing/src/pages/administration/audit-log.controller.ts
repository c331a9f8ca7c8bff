import { AuditLogQuery, AuditLogsService } from '@gatehouse/audit';
import type { AuditLogPage } from '@gatehouse/contracts';
import type { AppError } from '@gatehouse/platform';
import { Get, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { CurrentVisitor, type Member } from '../../wire/visitor.js';
import { FormValues, refusalOf, validated } from '../parts/form-values.js';
import { sendPage } from '../parts/layout.js';
import { PageController } from '../parts/page-controller.js';
import { auditLogPage, verificationPage, type AuditFilter } from './audit-log.view.js';

/** The audit log for administrators, with the filters and checks of `GET /api/site/admin/audit-logs`. */
@PageController('admin/audit-log', 'administrator')
export class AdminAuditLogPagesController {
  constructor(private readonly logs: AuditLogsService) {}

  @Get()
  async list(@CurrentVisitor() visitor: Member, @Query() query: object, @Res() response: Response): Promise<void> {
    const filter = filterOf(new FormValues(query));
    let page: AuditLogPage | undefined;
    const problem: AppError | undefined = await refusalOf(async () => {
      page = await this.logs.list(validated(AuditLogQuery, filter));
    });
    const body = auditLogPage(visitor, { filter, page, problem });
    sendPage(response, visitor, { title: visitor.words.text('auditLog.title'), body, problem });
  }

  @Get('verify')
  async verify(@CurrentVisitor() visitor: Member, @Res() response: Response): Promise<void> {
    const body = verificationPage(visitor, await this.logs.verify());
    sendPage(response, visitor, { title: visitor.words.text('auditLog.verifyTitle'), body });
  }
}

/** The fields that were filled in; an empty field does not filter the list. */
function filterOf(values: FormValues): AuditFilter {
  const filled = (['actor', 'action', 'success', 'cursor'] as const).map((name) => [name, values.optional(name)]);
  return Object.fromEntries(filled.filter(([, value]) => value !== undefined)) as AuditFilter;
}
