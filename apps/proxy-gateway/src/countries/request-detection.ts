import { randomUUID } from 'node:crypto';
import type { CountryRebuildResult } from '@gatehouse/contracts';
import { Jobs } from '@gatehouse/jobs';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { KernelService } from '../kernel-process/kernel.service.js';
import { JobCancellations } from '../jobs/job-cancellations.js';
import { jobFailure } from '../jobs/job-failure.js';
import { toJobId } from '../jobs/job-id.js';
import type { CountryOutcome } from './country-detection.handler.js';

const QUEUE = 'country-detection';
const WAIT_MS = 300_000;

/** Runs the detection of all nodes in a worker, one at a time, and waits for the result. */
@Injectable()
export class RequestDetection {
  constructor(
    private readonly jobs: Jobs,
    private readonly cancellations: JobCancellations,
    private readonly unitOfWork: UnitOfWork,
    private readonly kernel: KernelService,
  ) {}

  /** @throws AppError UPSTREAM_TIMEOUT if it takes too long to wait for; CONFLICT if it was cancelled. */
  async rebuild(): Promise<CountryRebuildResult> {
    const began = performance.now();
    const id = await this.join();
    const job_id = toJobId({ queue: QUEUE, id });
    try {
      const outcome = await this.jobs.waitFor<CountryOutcome>(QUEUE, id, WAIT_MS);
      if (outcome.cancelled) throw new AppError('CONFLICT', `The job ${job_id} was cancelled. Nothing was changed.`);
      const { cancelled: _cancelled, ...tally } = outcome;
      if (tally.changed > 0) await this.kernel.sync();
      return { ...tally, duration_ms: Math.round(performance.now() - began), job_id };
    } catch (error) {
      throw jobFailure(error, {
        late: `The detection is still running; GET /jobs/${job_id} shows its progress.`,
        failed: 'The countries could not be detected.',
      });
    }
  }

  private join(): Promise<string> {
    return this.unitOfWork.run(async (tx) => {
      await tx.query(`SELECT pg_advisory_xact_lock(hashtext('proxy_gateway.country-detection'))`);
      for (const { id, payload } of await this.jobs.unfinished(QUEUE)) {
        if (payload.nodeIds === undefined && !(await this.cancellations.isRequested({ queue: QUEUE, id }, tx)))
          return id;
      }
      return this.jobs.add(QUEUE, {}, { jobId: randomUUID(), attempts: 1 });
    });
  }
}
