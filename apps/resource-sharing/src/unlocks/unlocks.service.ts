import { AppError } from '@gatehouse/platform';
import { formatFullUrl, type ShareLinkKind } from '@gatehouse/share-links';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { UserCaller } from '../open-api/caller.js';
import { explainingRefusals } from '../points/points-ledger.js';
import { runStatement, type Statement } from '../points/run-statement.js';
import { ResourceSharingSettings } from '../settings.js';
import { explainingRisk, UnlockRisk, type UnlockAllowance } from '../risk/unlock-risk.js';
import { parseSlug } from '../shares/share-slug.js';

/** Why the caller may have the link: `own` to `owned` changed nothing, the rest is new. */
export type UnlockOutcome = 'own' | 'free' | 'owned' | 'official' | 'weekly_free' | 'points';

export interface UnlockedShare {
  readonly outcome: UnlockOutcome;
  readonly url: string;
  /** Empty without one. */
  readonly accessCode: string;
  readonly fullUrl: string;
  /** What was paid now. */
  readonly points: number;
  /** What the user's limit is now. */
  readonly allowance: UnlockAllowance;
}

interface UnlockRow extends UnlockAllowance {
  outcome: UnlockOutcome | 'none';
  kind: ShareLinkKind;
  url: string;
  access_code: string;
  points: number;
}

const UNLOCK: Statement = {
  name: 'unlock_share_watched',
  text: `SELECT outcome, kind, url, access_code, points, tier, quota, remaining, reset_s
    FROM unlock_share_watched($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
};

/** Gives users the links of shares: own, free, had before, free this week, or for points, in that order. */
@Injectable()
export class Unlocks {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: ResourceSharingSettings,
    private readonly risk: UnlockRisk,
  ) {}

  /**
   * One round trip and one transaction, or part of `tx`; a repeat never pays again. Raises INVALID_ARGUMENT for what is
   * no slug, NOT_FOUND, INSUFFICIENT_POINTS, and UnlockRefused for what the user's tier does not allow.
   */
  async unlock(caller: UserCaller, slug: string, tx?: EntityManager): Promise<UnlockedShare> {
    const { timeZone, weeklyFreeLimit, weeklyFreeBonusMax } = this.settings;
    const { userId, isPremium, applicationId, credentialId, grantId } = caller;
    const values = [userId, slugOf(slug), isPremium, applicationId, credentialId, grantId];
    const limits = [timeZone, weeklyFreeLimit, weeklyFreeBonusMax, this.risk.hasLooked(userId, slug)];
    const [row] = await explainingRefusals(
      explainingRisk(runStatement<UnlockRow>(this.dataSource, tx, UNLOCK, [...values, ...limits])),
    );
    if (row === undefined || row.outcome === 'none') throw new AppError('NOT_FOUND', 'There is no such share');
    const { outcome, kind, url, access_code: accessCode, points, ...allowance } = row;
    return { outcome, url, accessCode, fullUrl: formatFullUrl({ kind, url, accessCode }), points, allowance };
  }
}

function slugOf(text: string): string {
  const slug = parseSlug(text);
  if (slug !== undefined) return slug;
  const message = 'must be a UUID, with or without hyphens';
  throw new AppError('INVALID_ARGUMENT', `slug: ${message}`, { details: [{ field: 'slug', message }] });
}
