import { AuditRetention } from '@gatehouse/audit';
import type { RetentionPayload } from '@gatehouse/contracts';
import { JobHandler, type HandlesJobs, type JobContext } from '@gatehouse/jobs';
import { IdentityKeys } from '../identity/identity-keys.js';
import { UnlockDigest } from '../notices/unlock-digest.js';
import { LimitRetention } from './limit-retention.js';
import { TestDataRetention } from './test-data-retention.js';
import { TokenRetention } from './token-retention.js';

/** Removes old rows, and makes the daily digest of unlocks. Each part has a schedule of its own. */
@JobHandler('retention')
export class RetentionHandler implements HandlesJobs<'retention'> {
  constructor(
    private readonly limits: LimitRetention,
    private readonly tokens: TokenRetention,
    private readonly audit: AuditRetention,
    private readonly unlocks: UnlockDigest,
    private readonly identityKeys: IdentityKeys,
    private readonly testData: TestDataRetention,
  ) {}

  /** @throws TypeError for a part that this version does not know */
  async handle({ part }: RetentionPayload, { signal }: JobContext): Promise<void> {
    if (part === 'limits') await this.limits.sweep(signal);
    else if (part === 'tokens') await this.tokens.sweep(signal);
    else if (part === 'identity-keys') await this.identityKeys.tidy();
    else if (part === 'test-data') await this.testData.sweep(signal);
    else if (part === 'audit') await this.audit.sweep(Date.now());
    else if (part === 'unlock-digest') await this.unlocks.run(new Date(), signal);
    else throw new TypeError(`There is no retention of "${part}".`);
  }
}
