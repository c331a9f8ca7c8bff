import type { RefreshResult } from '@gatehouse/contracts';
import { JobFailedError, Jobs } from '@gatehouse/jobs';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { jobFailure, REFRESH_FAILURE } from '../jobs/job-failure.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { notFound } from './refresh-subscription.js';
import { SubscriptionEntity } from '../data/subscription.entity.js';

/** Longest setting of the fetch timeout, and the queue's own time. */
const WAIT_MS = 330_000;

/** Has a subscription refreshed where the workers are, once at a time, and waits for the result. */
@Injectable()
export class RequestRefresh {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: Jobs,
    private readonly kernel: KernelService,
  ) {}

  /** @throws AppError NOT_FOUND; UPSTREAM_TIMEOUT where it goes on for too long to be waited for. */
  async run(id: number, force: boolean): Promise<RefreshResult> {
    if (!(await this.dataSource.getRepository(SubscriptionEntity).existsBy({ id }))) throw notFound(id);
    const payload = { subscriptionId: id, trigger: 'manual', force } as const;
    const jobId = `subscription-${id}-${force ? 'force' : 'refresh'}`;
    try {
      const result = await this.jobs.addAndWait<RefreshResult>('subscription-refresh', payload, {
        jobId,
        timeoutMs: WAIT_MS,
      });
      // The document's rules may have changed where its nodes did not.
      if (result.status === 'updated' || result.status === 'not_modified') await this.kernel.sync();
      return result;
    } catch (error) {
      if (error instanceof JobFailedError && error.code === 'NOT_FOUND') throw notFound(id);
      throw jobFailure(error, REFRESH_FAILURE);
    }
  }
}
