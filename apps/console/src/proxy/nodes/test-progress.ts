import type { JobStatusName, JobView, SpeedTestProgress } from '@gatehouse/contracts';
import { formatCount } from '../../shared/format/amounts.js';

export function isOver({ status }: Pick<JobView, 'status'>): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled';
}

const BEGINNINGS: Record<JobStatusName, string> = {
  queued: 'Waiting for a worker',
  running: 'Testing',
  done: 'Done',
  failed: 'The test failed',
  cancelled: 'Cancelled',
};

/** One line about a test of many nodes. */
export function describeTest(status: JobStatusName, progress: SpeedTestProgress | null, error: string | null): string {
  const beginning = error === null ? BEGINNINGS[status] : `${BEGINNINGS[status]}: ${error}`;
  if (progress === null) return `${beginning}.`;
  const { tested, total, ok, failed, skipped } = progress;
  const left = skipped > 0 ? `, ${formatCount(skipped)} left out` : '';
  return `${beginning}: ${formatCount(tested)} of ${formatCount(total)} nodes, ${formatCount(ok)} answer, ${formatCount(failed)} do not${left}.`;
}
