import type { FlowRollupPayload } from '@gatehouse/contracts';
import { JobHandler, type HandlesJobs, type JobContext } from '@gatehouse/jobs';
import { FlowRollup } from './flow-rollup.js';

/** What waits is in the database, not in the job: a job that runs twice finds nothing the second time. */
@JobHandler('flow-rollup')
export class FlowRollupHandler implements HandlesJobs<'flow-rollup'> {
  constructor(private readonly rollup: FlowRollup) {}

  async handle(_payload: FlowRollupPayload, { signal }: JobContext): Promise<{ batches: number }> {
    return { batches: await this.rollup.run(signal) };
  }
}
