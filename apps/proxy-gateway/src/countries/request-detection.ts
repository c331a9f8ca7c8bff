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

/** Has the countries of all nodes detected where the workers are, once at a time, and waits for the result. */
@Injectable()
export class RequestDetection {
  constructor(
    private readonly jobs: Jobs,
    private readonly cancellations: JobCancellations,
    private readonly unitOfWork: UnitOfWork,
    private readonly kernel: KernelService,
  ) {}

  /** @throws AppError UPSTREAM_TIMEOUT where it takes too long to be waited for; CONFLICT for one that was cancelled. */
  async rebuild(): Promise<CountryRebuildResult> {
    const began = performance.now();
    const id = await this.join();
    const job_id = toJobId({ queue: QUEUE, id });
    try {
      const outcome = await this.jobs.waitFor<CountryOutcome>(QUEUE, id, WAIT_MS);
      if (outcome.cancelled) throw new AppError('CONFLICT', `The job ${job_id} was cancelled; nothing was changed.`);
      const { cancelled: _cancelled, ...tally } = outcome;
      if (tally.changed > 0) await this.kernel.sync();
      return { ...tally, duration_ms: Math.round(performance.now() - began), job_id };
    } catch (error) {
      throw jobFailure(error, {
        late: `It takes longer than that; GET /jobs/${job_id} tells how far it is.`,
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
