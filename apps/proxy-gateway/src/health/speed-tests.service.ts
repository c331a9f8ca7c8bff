import { randomUUID } from 'node:crypto';
import type { JobView, SpeedTestProgress, SpeedTestResults, SpeedTestView } from '@gatehouse/contracts';
import { JobFailedError, Jobs, JobTimeoutError } from '@gatehouse/jobs';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { JobCancellations } from '../jobs/job-cancellations.js';
import { toJobId } from '../jobs/job-id.js';
import type { ResultPage } from '../jobs/job-results.js';
import { JobsService } from '../jobs/jobs.service.js';
import { SpeedTestResultsReader } from './speed-test-results.js';

const QUEUE = 'speed-test';
/** The longest that a request waits; the job continues. */
const WAIT_MS = 120_000;

/** Tests of all nodes, one at a time, for all callers. */
@Injectable()
export class SpeedTestsService {
  constructor(
    private readonly jobs: Jobs,
    private readonly views: JobsService,
    private readonly cancellations: JobCancellations,
    private readonly results: SpeedTestResultsReader,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Returns the running job or starts one. With `wait` it waits for the end, up to a limit. */
  async testAll(wait: boolean, page: ResultPage): Promise<SpeedTestView> {
    const id = await this.join();
    if (wait) await this.ended(id);
    const jobId = toJobId({ queue: QUEUE, id });
    return toSpeedTestView(await this.views.follow(jobId), await this.results.page(jobId, page));
  }

  /** Requests of all replicas take turns here, so that a second one finds the job of the first. */
  private join(): Promise<string> {
    return this.unitOfWork.run(async (tx) => {
      await tx.query(`SELECT pg_advisory_xact_lock(hashtext('proxy_gateway.speed-test'))`);
      for (const { id, payload } of await this.jobs.unfinished(QUEUE)) {
        const whole = payload.nodeIds === undefined && payload.trigger === 'manual';
        if (whole && !(await this.cancellations.isRequested({ queue: QUEUE, id }, tx))) return id;
      }
      return this.jobs.add(QUEUE, { trigger: 'manual' }, { jobId: randomUUID(), attempts: 1 });
    });
  }

  /** Failures and timeouts are left to the view of the job. */
  private async ended(id: string): Promise<void> {
    try {
      await this.jobs.waitFor(QUEUE, id, WAIT_MS);
    } catch (error) {
      if (!(error instanceof JobTimeoutError) && !(error instanceof JobFailedError)) throw error;
    }
  }
}

function toSpeedTestView(job: JobView, results: SpeedTestResults): SpeedTestView {
  const progress = job.progress as SpeedTestProgress | null;
  return {
    job_id: job.job_id,
    status: job.status,
    total: progress?.total ?? null,
    tested: progress?.tested ?? 0,
    ok: progress?.ok ?? 0,
    failed: progress?.failed ?? 0,
    skipped: progress?.skipped ?? 0,
    concurrency: progress?.concurrency ?? null,
    started_at: job.started_at,
    finished_at: job.finished_at,
    duration_ms: job.duration_ms,
    ...results,
  };
}
