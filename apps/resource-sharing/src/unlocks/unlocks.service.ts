import { layerOfWork } from '@gatehouse/persistence';
import { AppError, MetricsRegistry } from '@gatehouse/platform';
import { formatFullUrl, type ShareLinkKind } from '@gatehouse/share-links';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Batches, wasUndone } from '../batches/batches.js';
import { LimitStore } from '../limits/limit-store.js';
import type { UserCaller } from '../credentials/caller.js';
import { PointMetrics } from '../points/point-metrics.js';
import { runStatement, type Statement } from '../points/run-statement.js';
import { ResourceSharingSettings } from '../settings.js';
import { UnlockRefused, UnlockRisk, type RefusedOutcome, type UnlockAllowance } from '../risk/unlock-risk.js';
import { parseSlug } from '../shares/share-slug.js';

/** Why the caller gets the link: `own`, `owned` and `free_again` changed nothing, the others are new. */
export type UnlockOutcome = 'own' | 'free' | 'free_again' | 'owned' | 'official' | 'weekly_free' | 'points';

export interface UnlockedShare {
  readonly outcome: UnlockOutcome;
  readonly url: string;
  /** Empty if there is none. */
  readonly accessCode: string;
  readonly fullUrl: string;
  /** The price that was paid now. */
  readonly points: number;
  /** The user's limit now. */
  readonly allowance: UnlockAllowance;
}

interface UnlockRow extends UnlockAllowance {
  /** Position of the unlock in the statement, from 1. */
  n: number;
  outcome: UnlockOutcome | 'none' | 'insufficient' | RefusedOutcome;
  kind: ShareLinkKind;
  url: string;
  access_code: string;
  points: number;
  retry_s: number | null;
}

/** The unlocking party; nulls if a user unlocks on the site. */
export type Unlocker = Pick<UserCaller, 'userId' | 'isPremium' | 'applicationId' | 'grantId'> & {
  readonly credentialId: number | null;
};

interface Asked {
  readonly caller: Unlocker;
  readonly slug: string;
  readonly looked: boolean;
}

const ANSWER = 'n, outcome, kind, url, access_code, points, tier, quota, remaining, reset_s, retry_s';

const UNLOCK_ONE: Statement = {
  name: 'unlock_share',
  text: `SELECT ${ANSWER} FROM unlock_share($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
};

const UNLOCK_SEVERAL: Statement = {
  name: 'unlock_shares',
  text: `SELECT ${ANSWER} FROM unlock_shares($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
};

const LOCK: Statement = { name: 'lock_unlocks', text: 'SELECT lock_unlocks($1, $2::uuid[])' };

/** Gives users the links of shares: own, free, unlocked before, free this week, or for points, in that order. */
@Injectable()
export class Unlocks {
  /** A user's own unlocks run one after another: each is paid from what the previous one left. */
  private readonly batches = new Batches<Asked, UnlockRow>({
    run: (asked) => this.run(asked),
    splits: wasUndone,
    keyOf: ({ caller }) => caller.userId,
    expects: () => this.limits.admitting,
  });

  private readonly results;

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: ResourceSharingSettings,
    private readonly risk: UnlockRisk,
    private readonly limits: LimitStore,
    private readonly points: PointMetrics,
    metrics: MetricsRegistry,
  ) {
    this.results = metrics.counter('gatehouse_unlocks_total', 'Attempts to unlock a share, by result', ['result']);
  }

  /**
   * One transaction, which concurrent unlocks may share, or part of `tx`; a repeat never pays again.
   * @throws INVALID_ARGUMENT for an invalid slug, NOT_FOUND, INSUFFICIENT_POINTS, UnlockRefused if the user's tier does
   * not allow it, and SERVICE_UNAVAILABLE if another request holds a needed lock for too long.
   */
  async unlock(caller: Unlocker, slug: string, tx?: EntityManager): Promise<UnlockedShare> {
    const asked = { caller, slug: slugOf(slug), looked: this.risk.hasLooked(caller.userId, slug) };
    // A batch has one connection, so those of test calls are not part of it.
    const isTest = layerOfWork() !== undefined;
    const work =
      tx === undefined && !isTest
        ? this.batches.submit(asked)
        : this.run([asked], tx).then(([row]) => row as UnlockRow);
    const row = await work.catch(rethrow);
    if (!isTest) this.results.inc({ result: row.outcome });
    if (row.outcome === 'points') this.points.moved('unlock', row.points);
    return unlockedShare(row);
  }

  /** Before several unlocks in `tx`, in any order: locks what they lock, in the order in which everybody locks. */
  async lock({ userId }: Unlocker, slugs: readonly string[], tx: EntityManager): Promise<void> {
    await runStatement(this.dataSource, tx, LOCK, [userId, slugs]).catch(rethrow);
  }

  private async run(asked: readonly Asked[], tx?: EntityManager): Promise<UnlockRow[]> {
    const { timeZone, weeklyFreeLimit, weeklyFreeBonusMax } = this.settings;
    const columns = [
      asked.map(({ caller }) => caller.userId),
      asked.map(({ slug }) => slug),
      asked.map(({ caller }) => caller.isPremium),
      asked.map(({ caller }) => caller.applicationId),
      asked.map(({ caller }) => caller.credentialId),
      asked.map(({ caller }) => caller.grantId),
      asked.map(({ looked }) => looked),
    ];
    const isOne = asked.length === 1;
    const rows = await runStatement<UnlockRow>(this.dataSource, tx, isOne ? UNLOCK_ONE : UNLOCK_SEVERAL, [
      ...(isOne ? columns.map(([value]) => value) : columns),
      timeZone,
      weeklyFreeLimit,
      weeklyFreeBonusMax,
    ]);
    return rows.toSorted((one, other) => one.n - other.n);
  }
}

function unlockedShare(row: UnlockRow): UnlockedShare {
  const { outcome, kind, url, access_code: accessCode, points, tier, quota, remaining, reset_s } = row;
  if (outcome === 'none') throw new AppError('NOT_FOUND', 'The share does not exist');
  if (outcome === 'insufficient') throw new AppError('INSUFFICIENT_POINTS');
  if (outcome === 'paused' || outcome === 'blocked' || outcome === 'too_fast') {
    throw new UnlockRefused(outcome, { tier: tier ?? 0, quota: quota ?? 0, retryAfterSeconds: row.retry_s ?? 0 });
  }
  const allowance = { tier, quota, remaining, reset_s };
  return { outcome, url, accessCode, fullUrl: formatFullUrl({ kind, url, accessCode }), points, allowance };
}

const LOCK_NOT_AVAILABLE = '55P03';

function rethrow(cause: unknown): never {
  if ((cause as { code?: unknown }).code !== LOCK_NOT_AVAILABLE) throw cause;
  throw new AppError('SERVICE_UNAVAILABLE', 'The service is busy: the request would wait too long', {
    cause,
    retryAfterSeconds: 1,
  });
}

function slugOf(text: string): string {
  const slug = parseSlug(text);
  if (slug !== undefined) return slug;
  const message = 'must be a UUID, with or without hyphens';
  throw new AppError('INVALID_ARGUMENT', `slug: ${message}`, { details: [{ field: 'slug', message }] });
}
