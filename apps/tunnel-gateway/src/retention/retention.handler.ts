import { AuditRetention } from '@gatehouse/audit';
import type { RetentionPayload } from '@gatehouse/contracts';
import { JobHandler, type HandlesJobs, type JobContext } from '@gatehouse/jobs';
import { Retention, type RetentionReport } from './retention.js';

@JobHandler('retention')
export class RetentionHandler implements HandlesJobs<'retention'> {
  constructor(
    private readonly retention: Retention,
    private readonly audit: AuditRetention,
  ) {}

  async handle(_payload: RetentionPayload, { signal }: JobContext): Promise<RetentionReport & { auditRows: number }> {
    const report = await this.retention.sweep(signal);
    return { ...report, auditRows: await this.audit.sweep(Date.now()) };
  }
}
