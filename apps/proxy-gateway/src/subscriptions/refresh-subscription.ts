import type { RefreshResult } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import type { SecretBox } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Preferences } from '../preferences/preferences.service.js';
import { SECRET_BOX } from '../secret-box.token.js';
import { FetchFailure } from './fetch-failure.js';
import { interpretReply } from './interpret-reply.js';
import type { ReadReply } from './interpret-reply.js';
import { NodeSetStore } from './node-set.store.js';
import { planRefresh } from './plan-refresh.js';
import { changesAfter, resultOf } from './refresh-outcome.js';
import type { RefreshOutcome } from './refresh-outcome.js';
import { SubscriptionFetcher } from './subscription-fetcher.js';
import type { FetchReply, FetchRequest } from './subscription-fetcher.js';
import { SubscriptionEntity } from './subscription.entity.js';

/** What the network gave, before the database is asked what to make of it. */
type Attempt =
  | Exclude<RefreshOutcome, { kind: 'read' }>
  | { kind: 'read'; fetched: Extract<FetchReply, { kind: 'content' }>; read: ReadReply };

/** Fetches a subscription and makes its nodes the reply's, whole or not at all. */
@Injectable()
export class RefreshSubscription {
  private readonly logger = new Logger('Subscriptions');
  private readonly underWay = new Map<string, Promise<RefreshResult>>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly fetcher: SubscriptionFetcher,
    private readonly store: NodeSetStore,
    private readonly preferences: Preferences,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  /**
   * Those who ask while a refresh of the same subscription is under way get its result.
   * @throws AppError NOT_FOUND. Everything that can go wrong with the provider is in the result instead.
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
    const began = performance.now();
    const before = await this.unitOfWork.run((tx) => tx.findOneBy(SubscriptionEntity, { id }));
    if (!before) throw notFound(id);
    const attempt = await this.attempt(before, force);
    const result = await this.unitOfWork.run((tx) => this.take(tx, before, attempt, { force, began }));
    this.log(before, result);
    return result;
  }

  private async attempt(row: SubscriptionEntity, force: boolean): Promise<Attempt> {
    try {
      const fetched = await this.fetcher.fetch(this.request(row, force));
      if (fetched.kind === 'not_modified') return { kind: 'not_modified', fetched };
      return { kind: 'read', fetched, read: interpretReply(fetched, row.type) };
    } catch (error) {
      if (error instanceof FetchFailure) return { kind: 'failed', failure: error };
      throw error;
    }
  }

  private request(row: SubscriptionEntity, force: boolean): FetchRequest {
    return {
      url: this.box.open(row.sealedUrl),
      userAgent: row.userAgent ?? this.preferences.get('subscription.user_agent'),
      timeoutMs: this.preferences.get('subscription.timeout_ms'),
      maxBytes: this.preferences.get('subscription.max_bytes'),
      allowPrivate: row.allowPrivate || this.preferences.get('subscription.allow_private'),
      etag: force ? null : row.etag,
      lastModified: force ? null : row.lastModified,
    };
  }

  /** One transaction: the nodes, their sources and what the subscription says of itself change together. */
  private async take(
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
    if (outcome.kind === 'read' && outcome.plan.kind === 'replace') {
      await this.store.replace(tx, row.id, outcome.plan, current);
    }
    await tx.update(SubscriptionEntity, row.id, changesAfter(row, outcome, new Date()));
    const moment = { now: new Date(), durationMs: performance.now() - began, nodesBefore: current.length };
    return resultOf(row, outcome, moment);
  }

  private async decide(
    tx: EntityManager,
    row: SubscriptionEntity,
    before: SubscriptionEntity,
    {
      attempt,
      current,
      force,
    }: { attempt: Attempt; current: Awaited<ReturnType<NodeSetStore['current']>>; force: boolean },
  ): Promise<RefreshOutcome> {
    if (row.sealedUrl !== before.sealedUrl || row.type !== before.type) {
      const message = 'The subscription was changed while it was fetched; the reply belongs to what it was before.';
      return { kind: 'failed', failure: new FetchFailure('superseded', message) };
    }
    if (attempt.kind !== 'read') return attempt;
    const entries = attempt.read.reply.kind === 'nodes' ? attempt.read.reply.entries : [];
    const known = await this.store.known(tx, entries);
    // The first content of an address has nothing to be compared with.
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
