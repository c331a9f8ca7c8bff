import { Schedules } from '@gatehouse/jobs';
import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { IdentityModule } from '../identity/identity.module.js';
import { UnlockDigest } from '../notices/unlock-digest.js';
import { LimitRetention } from './limit-retention.js';
import { RetentionHandler } from './retention.handler.js';
import { TestDataRetention } from './test-data-retention.js';
import { TokenRetention } from './token-retention.js';

const MINUTE_MS = 60_000;

/** How often each part runs. All begin a minute after the start, when the service has settled. */
const EVERY_MS = {
  limits: MINUTE_MS,
  tokens: 5 * MINUTE_MS,
  audit: 60 * MINUTE_MS,
  'identity-keys': 60 * MINUTE_MS,
  'test-data': 60 * MINUTE_MS,
  // Finds nothing to do except after midnight.
  'unlock-digest': 15 * MINUTE_MS,
};

/** Deletes old rows and makes daily digests, in the process with the workers. */
@Module({
  imports: [IdentityModule],
  providers: [LimitRetention, TokenRetention, UnlockDigest, TestDataRetention, RetentionHandler],
})
export class RetentionModule implements OnApplicationBootstrap {
  constructor(private readonly schedules: Schedules) {}

  async onApplicationBootstrap(): Promise<void> {
    const requestedAt = Date.now();
    const wanted = Object.entries(EVERY_MS).map(([part, everyMs]) => ({
      key: `retention-${part}`,
      everyMs,
      firstInMs: MINUTE_MS,
      jitterMs: MINUTE_MS / 6,
      payload: { requestedAt, part },
    }));
    const keys = new Set(wanted.map(({ key }) => key));
    await this.schedules.keep({ queue: 'retention', owns: (key) => keys.has(key), wanted: () => wanted });
  }
}
