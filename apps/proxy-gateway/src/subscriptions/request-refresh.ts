import type { RefreshResult } from '@gatehouse/contracts';
import { JobFailedError, Jobs } from '@gatehouse/jobs';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { jobFailure, REFRESH_FAILURE } from '../jobs/job-failure.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { notFound } from './refresh-subscription.js';
import { SubscriptionEntity } from '../data/subscription.entity.js';

/** The longest fetch timeout that can be set, plus time in the queue. */
const WAIT_MS = 330_000;

/** Runs the refresh of a subscription in a worker, one at a time, and waits for the result. */
@Injectable()
export class RequestRefresh {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: Jobs,
    private readonly kernel: KernelService,
  ) {}

  /** @throws AppError NOT_FOUND; UPSTREAM_TIMEOUT if it takes too long to wait for. */
  async run(id: number, force: boolean): Promise<RefreshResult> {
    if (!(await this.dataSource.getRepository(SubscriptionEntity).existsBy({ id }))) throw notFound(id);
    const payload = { subscriptionId: id, trigger: 'manual', force } as const;
    const jobId = `subscription-${id}-${force ? 'force' : 'refresh'}`;
    try {
      const result = await this.jobs.addAndWait<RefreshResult>('subscription-refresh', payload, {
        jobId,
        timeoutMs: WAIT_MS,
      });
      // The rules of the document may have changed even if its nodes did not.
      if (result.status === 'updated' || result.status === 'not_modified') await this.kernel.sync();
      return result;
    } catch (error) {
      if (error instanceof JobFailedError && error.code === 'NOT_FOUND') throw notFound(id);
      throw jobFailure(error, REFRESH_FAILURE);
    }
  }
}
