import type { CountryDetectionPayload } from '@gatehouse/contracts';
import { JobHandler } from '@gatehouse/jobs';
import type { HandlesJobs, JobContext } from '@gatehouse/jobs';
import { JobCancellations, JobCancelledError } from '../jobs/job-cancellations.js';
import { DetectCountries } from './detect-countries.js';
import type { CountryProgress, CountryTally } from './detect-countries.js';

const PROGRESS_MS = 500;

export type CountryOutcome = (CountryTally & { cancelled: false }) | { cancelled: true };

/** Runs the country detection that a job asks for. Running it twice gives the same result. */
@JobHandler('country-detection')
export class CountryDetectionHandler implements HandlesJobs<'country-detection'> {
  constructor(
    private readonly detect: DetectCountries,
    private readonly cancellations: JobCancellations,
  ) {}

  async handle({ nodeIds }: CountryDetectionPayload, job: JobContext): Promise<CountryOutcome> {
    let reportedAt = -Infinity;
    const progress = (now: CountryProgress): void => {
      if (performance.now() - reportedAt < PROGRESS_MS) return;
      reportedAt = performance.now();
      // A progress report that fails must not fail the job.
      job.progress({ ...now }).catch(() => undefined);
    };
    try {
      const tally = await this.cancellations.watch(job, (cancelled) => {
        const signal = AbortSignal.any([cancelled, job.signal]);
        signal.throwIfAborted();
        return this.detect.run(nodeIds, signal, progress);
      });
      return { ...tally, cancelled: false };
    } catch (error) {
      if (error instanceof JobCancelledError) return { cancelled: true };
      throw error;
    }
  }
}
