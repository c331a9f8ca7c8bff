import type { BroughtRules, RefreshResult } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Preferences } from '../preferences/preferences.service.js';
import { TakeProfile } from '../profiles/take-profile.js';
import { NodeSetStore } from './node-set.store.js';
import { planRefresh } from './plan-refresh.js';
import { changesAfter, resultOf } from './refresh-outcome.js';
import type { RefreshOutcome } from './refresh-outcome.js';
import { ReplyReader } from './reply-reader.js';
import type { Attempt } from './reply-reader.js';
import { RefreshLock } from './refresh-lock.js';
import { SubscriptionEntity } from '../data/subscription.entity.js';

type CarriedNodes = Awaited<ReturnType<NodeSetStore['current']>>;

/** If one of these columns changed during the fetch, the reply no longer applies. */
const FETCHED_BY = ['sealedUrl', 'type', 'userAgent', 'bringRules'] as const;

/** Fetches a subscription and replaces its nodes with those of the reply, completely or not at all. */
@Injectable()
export class RefreshSubscription {
  private readonly logger = new Logger('Subscriptions');
  private readonly underWay = new Map<string, Promise<RefreshResult>>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly lock: RefreshLock,
    private readonly reader: ReplyReader,
    private readonly store: NodeSetStore,
    private readonly preferences: Preferences,
    private readonly profiles: TakeProfile,
  ) {}

  /**
   * Calls during a refresh of the same subscription get its result.
   * @throws AppError NOT_FOUND. Errors of the provider are part of the result instead.
   */
  run(id: number, force = false): Promise<RefreshResult> {
    const key = `${id} ${force}`;
    const running = this.underWay.get(key);
    if (running) return running;
    const run = this.refresh(id, force).finally(() => this.underWay.delete(key));
    this.underWay.set(key, run);
    return run;
  }

  private async refresh(id: number, force: boolean): Promise<RefreshResult> {
    const asked = new Date();
    return this.lock.run(id, async (waited) => {
      const began = performance.now();
      const before = await this.unitOfWork.run((tx) => tx.findOneBy(SubscriptionEntity, { id }));
      if (!before) throw notFound(id);
      // Another process has just refreshed it, so its result is the answer.
      const done = waited && !force && before.lastCheckedAt !== null && before.lastCheckedAt >= asked;
      if (done && before.lastResult) return before.lastResult;
      const attempt = await this.reader.read(before, force);
      const result = await this.unitOfWork.run((tx) => this.apply(tx, before, attempt, { force, began }));
      if (result.rules !== null) await this.profiles.settle(id);
      this.log(before, result);
      return result;
    });
  }

  /** In one transaction: the nodes, their sources and the columns of the subscription change together. */
  private async apply(
    tx: EntityManager,
    before: SubscriptionEntity,
    attempt: Attempt,
    { force, began }: { force: boolean; began: number },
  ): Promise<RefreshResult> {
    await this.store.lock(tx);
    const row = await tx.findOne(SubscriptionEntity, { where: { id: before.id }, lock: { mode: 'pessimistic_write' } });
    if (!row) throw notFound(before.id);
    const current = await this.store.current(tx, row.id);
    const outcome = await this.decide(tx, row, before, { attempt, current, force });
    const rules = await this.replace(tx, row, outcome, current);
    const moment = { now: new Date(), durationMs: performance.now() - began, nodesBefore: current.length };
    const result = { ...resultOf(row, outcome, moment), rules };
    const chosenAgent = this.reader.chosenAgent(row);
    await tx.update(SubscriptionEntity, row.id, {
      ...changesAfter(row, outcome, { now: moment.now, chosenAgent }),
      lastResult: result,
    });
    return result;
  }

  /** Returns the result for the rules of its profile; null if the profile was not requested. */
  private async replace(
    tx: EntityManager,
    row: SubscriptionEntity,
    outcome: RefreshOutcome,
    current: CarriedNodes,
  ): Promise<BroughtRules | null> {
    if (outcome.kind !== 'read' || outcome.plan.kind !== 'replace') return null;
    await this.store.replace(tx, row.id, outcome.plan, current);
    const { aliases, document } = outcome.read;
    const { profile } = document;
    return row.bringRules && profile ? this.profiles.take(tx, row, profile, aliases) : null;
  }

  private async decide(
    tx: EntityManager,
    row: SubscriptionEntity,
    before: SubscriptionEntity,
    { attempt, current, force }: { attempt: Attempt; current: CarriedNodes; force: boolean },
  ): Promise<RefreshOutcome> {
    if (FETCHED_BY.some((key) => row[key] !== before[key])) {
      return { kind: 'superseded', via: attempt.via };
    }
    if (attempt.kind !== 'read') return attempt;
    const entries = attempt.read.reply.kind === 'nodes' ? attempt.read.reply.entries : [];
    const known = await this.store.known(tx, entries);
    // There is nothing to compare the first content of an address with.
    const keepRatio = force || row.contentSha256 === null ? 0 : this.preferences.get('subscription.keep_ratio');
    return { ...attempt, plan: planRefresh({ nodes: current, known }, attempt.read.reply, { keepRatio }) };
  }

  private log(row: SubscriptionEntity, result: RefreshResult): void {
    const { status, reason, added, updated, removed, skipped, duration_ms } = result;
    const fields = { subscription_id: row.id, status, reason, added, updated, removed, skipped, duration_ms };
    if (reason === null) this.logger.log(`Subscription ${row.id} refreshed`, fields);
    else this.logger.warn(`Subscription ${row.id} keeps its nodes: ${result.message ?? reason}`, fields);
  }
}

export function notFound(id: number): AppError {
  return new AppError('NOT_FOUND', `There is no subscription ${id}.`);
}
