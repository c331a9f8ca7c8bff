import { AppError, JsonLogger } from '@gatehouse/platform';
import { pgPool } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { DataSource } from 'typeorm';
import { refusalParts } from '../limits/limit-refusal.js';
import { limitField, policyField, type LimitState } from '../limits/rate-limit-fields.js';
import type { UserCaller } from '../credentials/caller.js';
import { ShareLooks } from './share-looks.js';

/** The user's limit as unlock_shares() reports it; nulls if the unlock did not count. */
export interface UnlockAllowance {
  readonly tier: number | null;
  readonly quota: number | null;
  readonly remaining: number | null;
  readonly reset_s: number | null;
}

/** The unlocking party: `site` is a user on the pages of the site. */
type WatchedCaller = Pick<UserCaller, 'userId' | 'applicationId'> & {
  readonly credentialKind: UserCaller['credentialKind'] | 'site';
};

/** The answer of unlock_shares() for an unlock that the user's tier does not allow. */
export type RefusedOutcome = 'paused' | 'blocked' | 'too_fast';

const LIMITS: Readonly<Record<RefusedOutcome, 'OPENAPI_COOLDOWN' | 'RISK_BLOCKED' | 'USER_RATE_LIMIT_EXCEEDED'>> = {
  paused: 'OPENAPI_COOLDOWN',
  blocked: 'RISK_BLOCKED',
  too_fast: 'USER_RATE_LIMIT_EXCEEDED',
};

/** An unlock that the user's tier does not allow. */
export class UnlockRefused extends AppError {
  readonly tier: number;
  /** True if it counts against the user. */
  readonly hit: boolean;

  constructor(
    outcome: RefusedOutcome,
    { tier, quota, retryAfterSeconds }: { tier: number; quota: number; retryAfterSeconds: number },
  ) {
    const limit = LIMITS[outcome];
    const resetMs = retryAfterSeconds * 1_000;
    const [shown, message, options] = refusalParts({
      code: limit === 'RISK_BLOCKED' ? 'OPENAPI_COOLDOWN' : limit,
      scope: 'user',
      retryAfterMs: resetMs,
      group: 'unlock',
      limit: { name: 'unlock-user', quota, windowMs: 60_000, resetMs },
    });
    const members = { ...options?.members, limit_code: limit };
    super(limit === 'RISK_BLOCKED' ? limit : shown, message, { ...options, members, limit: limit.toLowerCase() });
    this.tier = tier;
    this.hit = outcome === 'too_fast';
  }
}

/** Watches unlocks: what a user's tier allows, what counts against the user, and what the user's client is shown. */
@Injectable()
export class UnlockRisk {
  constructor(
    private readonly dataSource: DataSource,
    private readonly looks: ShareLooks,
    private readonly logger: JsonLogger,
  ) {}

  /** Whether the user has just viewed the share; earlier views are in the tables. */
  hasLooked(userId: number, slug: string): boolean {
    return this.looks.has(userId, slug);
  }

  /**
   * Runs an unlock to the end of its transaction, and records a refusal against the user. Only a user's own key is
   * shown the tier; applications are not.
   */
  async watch<T>(caller: WatchedCaller, response: Response, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof UnlockRefused) await this.noteRefusal(caller, response, error);
      throw error;
    }
  }

  /** Records a refusal against the user: one, however many shares of a request were refused. */
  async noteRefusal(caller: WatchedCaller, response: Response, refused: UnlockRefused): Promise<void> {
    const tier = refused.hit ? await this.noteHit(caller, refused.tier) : refused.tier;
    sendTier(caller, response, tier);
  }

  /** Sends the rest of the allowance in header fields. */
  sendAllowance(caller: WatchedCaller, response: Response, allowance: UnlockAllowance): void {
    const { tier, quota, remaining, reset_s: reset } = allowance;
    if (tier === null || quota === null || remaining === null || reset === null) return;
    const state: LimitState = { name: 'unlock-user', quota, windowMs: 60_000, remaining, resetMs: reset * 1_000 };
    response.setHeader('RateLimit-Policy', policyField([state])).setHeader('RateLimit', limitField(state));
    sendTier(caller, response, tier);
  }

  private async noteHit({ userId, applicationId }: WatchedCaller, tier: number): Promise<number> {
    try {
      const { rows } = await pgPool(this.dataSource).query<{ tier: number }>({
        name: 'note_limit_hit',
        text: 'SELECT tier FROM note_limit_hit($1, $2)',
        values: [userId, applicationId ?? 0],
      });
      return rows[0]?.tier ?? tier;
    } catch (error) {
      this.logger.warn('a refused unlock was not noted', { error }, 'UnlockRisk');
      return tier;
    }
  }
}

function sendTier({ credentialKind }: WatchedCaller, response: Response, tier: number): void {
  if (credentialKind === 'personal') response.setHeader('X-Risk-Tier', `T${tier}`);
}
