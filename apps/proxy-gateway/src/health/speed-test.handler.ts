import type { SpeedTestPayload, SpeedTestProgress } from '@gatehouse/contracts';
import { JobHandler } from '@gatehouse/jobs';
import type { HandlesJobs, JobContext } from '@gatehouse/jobs';
import { DetectAfterTest } from '../countries/detect-after-test.js';
import { JobCancellations, JobCancelledError } from '../jobs/job-cancellations.js';
import { toJobId } from '../jobs/job-id.js';
import { RunSpeedTest } from './run-speed-test.js';

/** The result stored with a finished job; the measurements are in `node_health`. */
export interface SpeedTestOutcome extends SpeedTestProgress {
  cancelled: boolean;
}

/** Measures nodes for jobs of the queue, one job at a time. A repeated job only measures again. */
@JobHandler('speed-test')
export class SpeedTestHandler implements HandlesJobs<'speed-test'> {
  constructor(
    private readonly speedTest: RunSpeedTest,
    private readonly cancellations: JobCancellations,
    private readonly countries: DetectAfterTest,
  ) {}

  async handle(payload: SpeedTestPayload, job: JobContext): Promise<SpeedTestOutcome> {
    const tally: SpeedTestProgress = { total: 0, tested: 0, ok: 0, failed: 0, skipped: 0, concurrency: 0 };
    const jobId = toJobId(job);
    try {
      await this.cancellations.watch(job, (cancelled) => {
        const signal = AbortSignal.any([cancelled, job.signal]);
        signal.throwIfAborted();
        return this.speedTest.run(payload, { jobId, signal, progress: (now) => job.progress({ ...now }) }, tally);
      });
      await this.countries.run();
      return { ...tally, cancelled: false };
    } catch (error) {
      if (error instanceof JobCancelledError) return { ...tally, cancelled: true };
      throw error;
    }
  }
}
