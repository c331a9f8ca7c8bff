import { allows } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import type { JobView, QueueName } from '@gatehouse/contracts';
import { Jobs } from '@gatehouse/jobs';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { JobCancellations } from './job-cancellations.js';
import { jobNotFound, parseJobId } from './job-id.js';
import type { JobReference } from './job-id.js';
import { JobResults } from './job-results.js';
import type { ResultPage } from './job-results.js';
import { hasEnded, toJobView } from './job.view.js';

/** Queues whose jobs check a signal while they run. */
const CANCELLABLE: readonly QueueName[] = ['speed-test', 'country-detection'];
/** Queues whose results every credential may read. */
const OPEN_RESULTS: readonly QueueName[] = ['speed-test', 'country-detection'];

/** Shows and cancels jobs, except those of housekeeping queues. */
@Injectable()
export class JobsService {
  constructor(
    private readonly jobs: Jobs,
    private readonly cancellations: JobCancellations,
    private readonly results: JobResults,
  ) {}

  /** @throws AppError NOT_FOUND, also for a job that was removed. */
  async get(jobId: string, actor: Actor | null, page: ResultPage): Promise<JobView> {
    const { reference, view, own } = await this.look(jobId);
    const mayRead = actor === null || allows(actor, 'write') || OPEN_RESULTS.includes(reference.queue);
    if (mayRead) view.result = await this.results.read(reference.queue, jobId, own, page);
    return view;
  }

  /** The state and progress only, since it is polled. @throws AppError NOT_FOUND. */
  async follow(jobId: string): Promise<JobView> {
    return (await this.look(jobId)).view;
  }

  /** @throws AppError NOT_FOUND; CONFLICT for a job that has ended or cannot be cancelled. */
  async cancel(jobId: string): Promise<JobView> {
    const { reference, view } = await this.look(jobId);
    if (view.status === 'cancelled') return view;
    if (hasEnded(view)) throw new AppError('CONFLICT', `The job has already ended: it is ${view.status}.`);
    if (!CANCELLABLE.includes(reference.queue)) {
      throw new AppError('CONFLICT', `A job of the kind ${reference.queue} cannot be cancelled.`);
    }
    await this.cancellations.request(reference);
    return (await this.look(jobId)).view;
  }

  private async look(jobId: string): Promise<{ reference: JobReference; view: JobView; own: unknown }> {
    const reference = parseJobId(jobId, this.jobs.queues);
    const status = reference ? await this.jobs.status(reference.queue, reference.id) : undefined;
    if (!reference || !status) throw jobNotFound(jobId);
    const cancelled =
      status.state === 'completed'
        ? (status.result as { cancelled?: unknown } | null)?.cancelled === true
        : status.state !== 'failed' && (await this.cancellations.isRequested(reference));
    return { reference, view: toJobView(status, cancelled), own: status.result };
  }
}
