import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { parseSlug } from '../shares/share-slug.js';
import { UnlockRefused } from '../risk/unlock-risk.js';
import { Unlocks, type UnlockedShare, type Unlocker } from './unlocks.service.js';

/** What became of one share of a request for several. */
export type UnlockAttempt = { readonly slug: string } & (
  | { readonly unlocked: UnlockedShare; readonly refusal?: undefined }
  | { readonly unlocked?: undefined; readonly refusal: AppError }
);

/** Unlocks several shares for one user. */
@Injectable()
export class UnlockBatches {
  constructor(
    private readonly unlocks: Unlocks,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * One transaction, `tx` or its own: it is done as a whole or not at all, while each share has its own outcome, in
   * the order of `slugs`, which must be valid. One that is named twice is unlocked once.
   * @throws UnlockRefused if the limit of the user refuses shares and no other is unlocked; SERVICE_UNAVAILABLE if
   * another request holds a needed lock for too long.
   */
  async unlock(caller: Unlocker, slugs: readonly string[], tx?: EntityManager): Promise<UnlockAttempt[]> {
    const wanted = [...new Set(slugs.map((slug) => parseSlug(slug) ?? slug))];
    const work = (own: EntityManager): Promise<UnlockAttempt[]> => this.unlockIn(own, caller, wanted);
    const attempts = await (tx === undefined ? this.unitOfWork.run(work) : work(tx));
    const refused = refusedOf(attempts);
    if (refused !== undefined && attempts.every(({ unlocked }) => unlocked === undefined)) throw refused;
    return attempts;
  }

  private async unlockIn(tx: EntityManager, caller: Unlocker, slugs: readonly string[]): Promise<UnlockAttempt[]> {
    await this.unlocks.lock(caller, slugs, tx);
    const attempts: UnlockAttempt[] = [];
    for (const slug of slugs) attempts.push(await this.attempt(tx, caller, slug));
    return attempts;
  }

  private async attempt(tx: EntityManager, caller: Unlocker, slug: string): Promise<UnlockAttempt> {
    try {
      return { slug, unlocked: await this.unlocks.unlock(caller, slug, tx) };
    } catch (error) {
      if (isOfOneShare(error)) return { slug, refusal: error };
      throw error;
    }
  }
}

/** The refusal that a limit of the user caused. */
export function refusedOf(attempts: readonly UnlockAttempt[]): UnlockRefused | undefined {
  return attempts.map(({ refusal }) => refusal).find((refusal) => refusal instanceof UnlockRefused);
}

/** A refusal that changed nothing; after other errors the transaction is lost. */
function isOfOneShare(error: unknown): error is AppError {
  if (error instanceof UnlockRefused) return true;
  return error instanceof AppError && (error.code === 'NOT_FOUND' || error.code === 'INSUFFICIENT_POINTS');
}
