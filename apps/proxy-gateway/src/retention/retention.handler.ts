import type { RetentionPayload } from '@gatehouse/contracts';
import { JobHandler } from '@gatehouse/jobs';
import type { HandlesJobs } from '@gatehouse/jobs';
import { AuditRetention } from '@gatehouse/audit';
import { SwitchRetention } from '../outbound/switch-retention.js';
import { RuntimeLogRetention } from '../runtime-logs/runtime-log-retention.js';
import { TrafficRetention } from '../traffic/traffic-retention.js';
import type { RetentionReport } from '../traffic/traffic-retention.js';

export interface FullReport extends RetentionReport {
  auditRows: number;
  logRows: number;
  switches: number;
}

/** Forgets what is old enough, as the settings say at that moment. Sweeping twice does no harm. */
@JobHandler('retention')
export class RetentionHandler implements HandlesJobs<'retention'> {
  constructor(
    private readonly traffic: TrafficRetention,
    private readonly audit: AuditRetention,
    private readonly logs: RuntimeLogRetention,
    private readonly switches: SwitchRetention,
  ) {}

  async handle(_payload: RetentionPayload): Promise<FullReport> {
    const now = Date.now();
    const report = await this.traffic.sweep(now);
    const auditRows = await this.audit.sweep(now);
    const logRows = await this.logs.sweep(now);
    return { ...report, auditRows, logRows, switches: await this.switches.sweep(now) };
  }
}
