import type { QueueName } from '../queues.js';

/** `queued`: no worker has started it yet. */
export type JobStatusName = 'queued' | 'running' | 'done' | 'failed' | 'cancelled';

/** `GET /jobs/{id}`: work that continues after its request was answered. */
export interface JobView {
  /** The queue and the job's id in it, separated by a dot. */
  job_id: string;
  type: QueueName;
  status: JobStatusName;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  /** The running time so far, while it runs. */
  duration_ms: number | null;
  /** As reported by the job; null before its first report. */
  progress: Record<string, unknown> | null;
  /** The result; for a speed test the results so far. Null for credentials that may not see it. */
  result: unknown;
  error: { code: string; message: string } | null;
}
