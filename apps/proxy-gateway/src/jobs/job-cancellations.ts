import { notify, PgListener, UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { OnModuleDestroy, OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { SqlRunner } from '../traffic/log-partitions.js';
import { toJobId } from './job-id.js';
import type { JobReference } from './job-id.js';

const CHANNEL = 'proxy_gateway_job_cancellations';
/** Longer than any job is kept. */
const KEPT = `interval '8 days'`;

/** The abort reason of a job that a user cancelled. */
export class JobCancelledError extends Error {
  override readonly name = 'JobCancelledError';
  constructor() {
    super('The job was cancelled.');
  }
}

/** Passes requests to cancel a job to the process that runs it, now or later. */
@Injectable()
export class JobCancellations implements OnModuleInit, OnModuleDestroy {
  private readonly running = new Map<string, AbortController>();
  private stopListening: (() => Promise<void>) | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly listener: PgListener,
  ) {}

  async onModuleInit(): Promise<void> {
    const onNotice = (jobId: string): void => this.running.get(jobId)?.abort(new JobCancelledError());
    this.stopListening = await this.listener.listen(CHANNEL, onNotice, () => void this.lookAgain());
  }

  async onModuleDestroy(): Promise<void> {
    await this.stopListening?.();
  }

  async request(job: JobReference): Promise<void> {
    const jobId = toJobId(job);
    await this.unitOfWork.run(async (tx) => {
      await tx.query(`DELETE FROM job_cancellations WHERE requested_at < now() - ${KEPT}`);
      await tx.query('INSERT INTO job_cancellations (job_id) VALUES ($1) ON CONFLICT DO NOTHING', [jobId]);
      await notify(tx, CHANNEL, jobId);
    });
  }

  /**
   * @param sql the caller's transaction, if it has one: while it holds locks, a second connection may not be available.
   */
  async isRequested(job: JobReference, sql: SqlRunner = this.dataSource): Promise<boolean> {
    const rows = (await sql.query('SELECT 1 FROM job_cancellations WHERE job_id = $1', [toJobId(job)])) as unknown[];
    return rows.length > 0;
  }

  /** Runs work with a signal that a request to cancel aborts, even if the request came before the work began. */
  async watch<T>(job: JobReference, work: (cancelled: AbortSignal) => Promise<T>): Promise<T> {
    const jobId = toJobId(job);
    const controller = new AbortController();
    this.running.set(jobId, controller);
    try {
      if (await this.isRequested(job)) controller.abort(new JobCancelledError());
      return await work(controller.signal);
    } finally {
      this.running.delete(jobId);
      // The request was for this run; a later job may have the same id.
      if (controller.signal.aborted) await this.forget(jobId);
    }
  }

  /** If deleting fails, the request cancels one more run, which deletes it. */
  private async forget(jobId: string): Promise<void> {
    await this.dataSource.query('DELETE FROM job_cancellations WHERE job_id = $1', [jobId]).catch(() => undefined);
  }

  /** Notifications can be missed, so this looks at intervals; a failed look is repeated at the next one. */
  private async lookAgain(): Promise<void> {
    const ids = [...this.running.keys()];
    if (ids.length === 0) return;
    const rows: { job_id: string }[] = await this.dataSource
      .query('SELECT job_id FROM job_cancellations WHERE job_id = ANY($1::text[])', [ids])
      .catch(() => []);
    for (const { job_id } of rows) this.running.get(job_id)?.abort(new JobCancelledError());
  }
}
