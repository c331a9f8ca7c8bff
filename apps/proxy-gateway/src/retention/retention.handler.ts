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

/** Deletes old rows according to the present settings. Running it twice does no harm. */
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
    // A locked table must not stop the other sweeps.
    const sweeps = [this.traffic, this.audit, this.logs, this.switches] as const;
    const [report, auditRows, logRows, switches] = await inTurn(sweeps.map((each) => () => each.sweep(now)));
    return { ...(report as RetentionReport), auditRows, logRows, switches } as FullReport;
  }
}

/** Runs all steps one after the other, then rejects with the first failure, if any. */
async function inTurn(steps: readonly (() => Promise<unknown>)[]): Promise<unknown[]> {
  const outcomes: PromiseSettledResult<unknown>[] = [];
  for (const step of steps) outcomes.push(...(await Promise.allSettled([step()])));
  return outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
}
