import type { QueueName } from '../queues.js';

/** `queued`: no worker has taken it yet. */
export type JobStatusName = 'queued' | 'running' | 'done' | 'failed' | 'cancelled';

/** `GET /jobs/{id}`: work that goes on after its request was answered. */
export interface JobView {
  /** The queue and the job in it, parted by a dot. */
  job_id: string;
  type: QueueName;
  status: JobStatusName;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
  /** Since it started, while it runs. */
  duration_ms: number | null;
  /** What the job says of itself; null before it said anything. */
  progress: Record<string, unknown> | null;
  /** What came of it; of a speed test what there is so far. Null for credentials that may not see it. */
  result: unknown;
  error: { code: string; message: string } | null;
}
