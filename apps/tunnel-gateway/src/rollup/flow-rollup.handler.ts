import type { FlowRollupPayload } from '@gatehouse/contracts';
import { JobHandler, type HandlesJobs, type JobContext } from '@gatehouse/jobs';
import { FlowRollup } from './flow-rollup.js';

/** The database has what is due: a job that runs twice has nothing to do the second time. */
@JobHandler('flow-rollup')
export class FlowRollupHandler implements HandlesJobs<'flow-rollup'> {
  constructor(private readonly rollup: FlowRollup) {}

  async handle(_payload: FlowRollupPayload, { signal }: JobContext): Promise<{ batches: number }> {
    return { batches: await this.rollup.run(signal) };
  }
}
