import type { RetentionPayload } from '@gatehouse/contracts';
import { JobHandler, Jobs } from '@gatehouse/jobs';
import type { HandlesJobs } from '@gatehouse/jobs';
import { Logger } from '@nestjs/common';
import type { OnApplicationBootstrap } from '@nestjs/common';
import { TrafficRetention } from './traffic-retention.js';
import type { RetentionReport } from './traffic-retention.js';

const HOUR_MS = 3_600_000;

/** Sweeps every hour. Running twice does no harm: the second finds nothing old. */
@JobHandler('retention')
export class RetentionHandler implements HandlesJobs<'retention'>, OnApplicationBootstrap {
  private readonly logger = new Logger(RetentionHandler.name);

  constructor(
    private readonly jobs: Jobs,
    private readonly retention: TrafficRetention,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    try {
      const schedule = { everyMs: HOUR_MS, firstInMs: 60_000, jitterMs: 60_000 };
      await this.jobs.upsertScheduler('retention', 'hourly', schedule, { requestedAt: 0 });
    } catch (error) {
      this.logger.error('The retention schedule could not be set; the next start does it', error);
    }
  }

  /** A scheduler repeats its payload: 0 stands for the time of the run. */
  async handle({ requestedAt }: RetentionPayload): Promise<RetentionReport> {
    const report = await this.retention.sweep(requestedAt === 0 ? Date.now() : requestedAt);
    if (report.droppedPartitions.length > 0) this.logger.log(`Dropped ${report.droppedPartitions.join(', ')}`);
    return report;
  }
}
