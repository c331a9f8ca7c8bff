import type { RuleSetRefreshResult } from '@gatehouse/contracts';
import { JobFailedError, Jobs, JobTimeoutError } from '@gatehouse/jobs';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { KernelService } from '../kernel-host/kernel.service.js';
import { ruleSetNotFound } from './refresh-rule-set.js';
import { RuleSetEntity } from './rule-set.entity.js';

/** Longest setting of the fetch timeout, the reading, and the queue's own time. */
const WAIT_MS = 390_000;

/** Has a rule set refreshed where the workers are, once at a time, and waits for the result. */
@Injectable()
export class RequestRuleSetRefresh {
  constructor(
    private readonly dataSource: DataSource,
    private readonly jobs: Jobs,
    private readonly kernel: KernelService,
  ) {}

  /** @throws AppError NOT_FOUND; UPSTREAM_TIMEOUT where it goes on for too long to be waited for. */
  async run(id: number, force: boolean): Promise<RuleSetRefreshResult> {
    if (!(await this.dataSource.getRepository(RuleSetEntity).existsBy({ id }))) throw ruleSetNotFound(id);
    const payload = { ruleSetId: id, trigger: 'manual', force } as const;
    try {
      const result = await this.jobs.addAndWait<RuleSetRefreshResult>('rule-set-refresh', payload, {
        jobId: `rule-set-${id}-${force ? 'force' : 'refresh'}`,
        timeoutMs: WAIT_MS,
      });
      // Also where nothing was new: what somebody else fetched a moment ago is to be in force too.
      await this.kernel.sync();
      return result;
    } catch (error) {
      throw toAppError(error, id);
    }
  }
}

function toAppError(error: unknown, id: number): unknown {
  if (error instanceof JobTimeoutError) {
    return new AppError('UPSTREAM_TIMEOUT', 'The refresh has not ended yet; it goes on.', { cause: error });
  }
  if (!(error instanceof JobFailedError)) return error;
  if (error.code === 'NOT_FOUND') return ruleSetNotFound(id);
  return new AppError('INTERNAL', 'The refresh failed.', { cause: error });
}
