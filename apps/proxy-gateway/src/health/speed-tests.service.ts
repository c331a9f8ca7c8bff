import { randomUUID } from 'node:crypto';
import type { JobView, SpeedTestProgress, SpeedTestResults, SpeedTestView } from '@gatehouse/contracts';
import { JobFailedError, Jobs, JobTimeoutError } from '@gatehouse/jobs';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { JobCancellations } from '../jobs/job-cancellations.js';
import { toJobId } from '../jobs/job-id.js';
import { JobResults } from '../jobs/job-results.js';
import type { ResultPage } from '../jobs/job-results.js';
import { JobsService } from '../jobs/jobs.service.js';
import { GENERAL_URL } from './node-health.entity.js';

const QUEUE = 'speed-test';
/** Longer than this no request waits; the job goes on. */
const WAIT_MS = 120_000;

interface ResultRow {
  id: number;
  name: string;
  ok: boolean;
  delay_ms: number | null;
  error_code: string | null;
  error_message: string | null;
  tested_at: Date;
}

const SELECT_RESULTS = `
  SELECT node.id, coalesce(node.custom_name, node.original_name) AS name, health.alive AS ok, health.delay_ms,
    health.error_code, health.error_message, health.last_tested_at AS tested_at
  FROM node_health health JOIN nodes node ON node.id = health.node_id
  WHERE health.job_id = $1 AND health.test_url = $2
  ORDER BY health.alive DESC, health.delay_ms, node.id LIMIT $3 OFFSET $4`;

/** Tests of all nodes: one at a time, whoever asks. */
@Injectable()
export class SpeedTestsService implements OnModuleInit {
  constructor(
    private readonly jobs: Jobs,
    private readonly views: JobsService,
    private readonly cancellations: JobCancellations,
    private readonly results: JobResults,
    private readonly unitOfWork: UnitOfWork,
    private readonly dataSource: DataSource,
  ) {}

  onModuleInit(): void {
    this.results.register(QUEUE, async (jobId, own, page) => ({
      ...(own ?? {}),
      ...(await this.page(jobId, page)),
    }));
  }

  /** Answers with the job that runs already, else with a new one; `wait` waits for its end, for a while. */
  async testAll(wait: boolean, page: ResultPage): Promise<SpeedTestView> {
    const id = await this.join();
    if (wait) await this.ended(id);
    const jobId = toJobId({ queue: QUEUE, id });
    return toSpeedTestView(await this.views.follow(jobId), await this.page(jobId, page));
  }

  /** Those who ask at the same time, of any replica, take turns: the second finds the first one's job. */
  private join(): Promise<string> {
    return this.unitOfWork.run(async (tx) => {
      await tx.query(`SELECT pg_advisory_xact_lock(hashtext('proxy_gateway.speed-test'))`);
      for (const { id, payload } of await this.jobs.unfinished(QUEUE)) {
        const whole = payload.nodeIds === undefined && payload.trigger === 'manual';
        if (whole && !(await this.cancellations.isRequested({ queue: QUEUE, id }))) return id;
      }
      return this.jobs.add(QUEUE, { trigger: 'manual' }, { jobId: randomUUID(), attempts: 1 });
    });
  }

  /** A job that fails or takes too long is told by its view. */
  private async ended(id: string): Promise<void> {
    try {
      await this.jobs.waitFor(QUEUE, id, WAIT_MS);
    } catch (error) {
      if (!(error instanceof JobTimeoutError) && !(error instanceof JobFailedError)) throw error;
    }
  }

  private async page(jobId: string, { limit, offset }: ResultPage): Promise<SpeedTestResults> {
    const [{ total }]: [{ total: number }] = await this.dataSource.query(
      'SELECT count(*)::integer AS total FROM node_health WHERE job_id = $1 AND test_url = $2',
      [jobId, GENERAL_URL],
    );
    const rows: ResultRow[] = await this.dataSource.query(SELECT_RESULTS, [jobId, GENERAL_URL, limit, offset]);
    const results = rows.map(({ error_code, error_message, tested_at, ...row }) => ({
      ...row,
      error: error_code === null ? null : { code: error_code, message: error_message ?? '' },
      tested_at: tested_at.toISOString(),
    }));
    return { results, results_total: total, limit, offset };
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
