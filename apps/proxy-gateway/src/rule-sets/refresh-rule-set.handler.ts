import type { RuleSetRefreshPayload, RuleSetRefreshResult } from '@gatehouse/contracts';
import { JobHandler, PermanentJobError } from '@gatehouse/jobs';
import type { HandlesJobs } from '@gatehouse/jobs';
import { AppError } from '@gatehouse/platform';
import { RefreshRuleSet } from './refresh-rule-set.js';
import { RuleSetSchedules } from './rule-set-schedules.js';

/** Refreshes a rule set for a job. A repeated job finds nothing to change. */
@JobHandler('rule-set-refresh', { concurrency: 2 })
export class RefreshRuleSetHandler implements HandlesJobs<'rule-set-refresh'> {
  constructor(
    private readonly refresh: RefreshRuleSet,
    private readonly schedules: RuleSetSchedules,
  ) {}

  async handle({ ruleSetId, force }: RuleSetRefreshPayload): Promise<RuleSetRefreshResult> {
    try {
      return await this.refresh.run(ruleSetId, force);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'NOT_FOUND') throw error;
      // The set was deleted after the job was queued; its schedule must not outlive it.
      await this.schedules.forget(ruleSetId);
      throw new PermanentJobError(error.message, { code: error.code, cause: error });
    }
  }
}
