import type { RuleSetRefreshResult } from '@gatehouse/contracts';
import { JobFailedError, Jobs } from '@gatehouse/jobs';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { jobFailure, REFRESH_FAILURE } from '../jobs/job-failure.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { ruleSetNotFound } from './refresh-rule-set.js';
import { RuleSetEntity } from '../data/rule-set.entity.js';

/** The longest fetch timeout that can be set, plus reading and time in the queue. */
const WAIT_MS = 390_000;

/** Runs the refresh of a rule set in a worker, one at a time, and waits for the result. */
@Injectable()
export class RequestRuleSetRefresh {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: Jobs,
    private readonly kernel: KernelService,
  ) {}

  /** @throws AppError NOT_FOUND; UPSTREAM_TIMEOUT if it takes too long to wait for. */
  async run(id: number, force: boolean): Promise<RuleSetRefreshResult> {
    if (!(await this.dataSource.getRepository(RuleSetEntity).existsBy({ id }))) throw ruleSetNotFound(id);
    const payload = { ruleSetId: id, trigger: 'manual', force } as const;
    try {
      const result = await this.jobs.addAndWait<RuleSetRefreshResult>('rule-set-refresh', payload, {
        jobId: `rule-set-${id}-${force ? 'force' : 'refresh'}`,
        timeoutMs: WAIT_MS,
      });
      // Also if nothing was new: content that another process has just fetched must be in effect, too.
      await this.kernel.sync();
      return result;
    } catch (error) {
      if (error instanceof JobFailedError && error.code === 'NOT_FOUND') throw ruleSetNotFound(id);
      throw jobFailure(error, REFRESH_FAILURE);
    }
  }
}
