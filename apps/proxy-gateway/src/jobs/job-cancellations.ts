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

/** The reason of a signal that a person's wish aborted. */
export class JobCancelledError extends Error {
  override readonly name = 'JobCancelledError';
  constructor() {
    super('The job was cancelled.');
  }
}

/** Carries the wish to end a job to whichever process runs it, now or later. */
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
    const heard = (jobId: string): void => this.running.get(jobId)?.abort(new JobCancelledError());
    this.stopListening = await this.listener.listen(CHANNEL, heard, () => void this.lookAgain());
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

  /** @param sql the transaction of a caller that is in one: another connection may not be had while it holds a lock. */
  async isRequested(job: JobReference, sql: SqlRunner = this.dataSource): Promise<boolean> {
    const rows = (await sql.query('SELECT 1 FROM job_cancellations WHERE job_id = $1', [toJobId(job)])) as unknown[];
    return rows.length > 0;
  }

  /** Runs work under a signal that a request to cancel aborts, one made before the work began included. */
  async watch<T>(job: JobReference, work: (cancelled: AbortSignal) => Promise<T>): Promise<T> {
    const jobId = toJobId(job);
    const controller = new AbortController();
    this.running.set(jobId, controller);
    try {
      if (await this.isRequested(job)) controller.abort(new JobCancelledError());
      return await work(controller.signal);
    } finally {
      this.running.delete(jobId);
      // It was meant for this run: a later job may be called the same.
      if (controller.signal.aborted) await this.forget(jobId);
    }
  }

  /** One that stays all the same ends one more run, which forgets it. */
  private async forget(jobId: string): Promise<void> {
    await this.dataSource.query('DELETE FROM job_cancellations WHERE job_id = $1', [jobId]).catch(() => undefined);
  }

  /** Notifications may have been missed. A look that fails is made up for by the next. */
  private async lookAgain(): Promise<void> {
    const ids = [...this.running.keys()];
    if (ids.length === 0) return;
    const rows: { job_id: string }[] = await this.dataSource
      .query('SELECT job_id FROM job_cancellations WHERE job_id = ANY($1::text[])', [ids])
      .catch(() => []);
    for (const { job_id } of rows) this.running.get(job_id)?.abort(new JobCancelledError());
  }
}
