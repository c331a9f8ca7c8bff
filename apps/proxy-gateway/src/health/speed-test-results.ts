import type { SpeedTestResults } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { JobResults } from '../jobs/job-results.js';
import type { ResultPage } from '../jobs/job-results.js';
import { GENERAL_URL } from '../data/node-health.entity.js';

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

/** Reads the results of a test of many nodes, except those that a later test has replaced. */
@Injectable()
export class SpeedTestResultsReader implements OnModuleInit {
  constructor(
    private readonly jobResults: JobResults,
    private readonly dataSource: DataSource,
  ) {}

  onModuleInit(): void {
    this.jobResults.register('speed-test', async (jobId, own, page) =>
      Object.assign({}, own, await this.page(jobId, page)),
    );
  }

  async page(jobId: string, { limit, offset }: ResultPage): Promise<SpeedTestResults> {
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
