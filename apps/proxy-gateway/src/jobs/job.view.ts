import type { JobStatusName, JobView } from '@gatehouse/contracts';
import type { JobStatus } from '@gatehouse/jobs';
import { readerText } from '../reader-text.js';
import { toJobId } from './job-id.js';

const STATUS: Readonly<Record<JobStatus['state'], JobStatusName>> = {
  waiting: 'queued',
  delayed: 'queued',
  active: 'running',
  completed: 'done',
  failed: 'failed',
};

/** A job as the API shows it, without its result. */
export function toJobView(job: JobStatus, cancelled: boolean, now = Date.now()): JobView {
  const { startedAt, finishedAt, failure } = job;
  const end = finishedAt?.getTime() ?? now;
  const status = cancelled && job.state !== 'active' ? 'cancelled' : STATUS[job.state];
  return {
    job_id: toJobId(job),
    type: job.queue,
    status,
    created_at: job.createdAt.toISOString(),
    started_at: startedAt?.toISOString() ?? null,
    finished_at: finishedAt?.toISOString() ?? null,
    duration_ms: startedAt ? Math.max(0, end - startedAt.getTime()) : null,
    progress: typeof job.progress === 'object' ? job.progress : null,
    result: null,
    error: status === 'failed' ? describe(failure) : null,
  };
}

export function hasEnded({ status }: Pick<JobView, 'status'>): boolean {
  return status !== 'queued' && status !== 'running';
}

/** Details of an unexpected failure are for the log only. */
function describe(failure: JobStatus['failure']): JobView['error'] {
  if (failure?.code !== undefined) return { code: failure.code, message: readerText(failure.message) };
  return { code: 'INTERNAL', message: readerText('The job failed; see the runtime log for the reason.') };
}
