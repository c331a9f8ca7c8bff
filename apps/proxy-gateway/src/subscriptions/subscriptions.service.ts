import { keepAnswer, type Actor } from '@gatehouse/auth';
import type { ItemList, RefreshResult, SubscriptionDeletedResponse, SubscriptionView } from '@gatehouse/contracts';
import { notify, takeRowId, UnitOfWork, SECRET_BOX } from '@gatehouse/persistence';
import type { SecretBox } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { maySeeSecrets } from '../auth/may-see-secrets.js';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';
import { refusePrivateSource } from '../auth/private-source.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { NodeWriter } from '../nodes/node-writer.js';
import { TakeProfile } from '../profiles/take-profile.js';
import { sealUrl, tryOpenUrl } from '../sealed-url.js';
import { RefreshSchedules } from './refresh-schedules.js';
import { notFound } from './refresh-subscription.js';
import { FIRST_REFRESH_MS } from './refresh-times.js';
import type { NewSubscription, SubscriptionChanges } from './subscription.dto.js';
import { SubscriptionEntity } from '../data/subscription.entity.js';
import { toSubscriptionView } from './subscription.view.js';

const DEFAULT_INTERVAL_SEC = 3_600;
/**
 * "Not modified" refers to a request and to the way its reply was read; if either changes, the content must be fetched
 * again.
 */
const FORGET_VALIDATORS = { etag: null, lastModified: null, workingUserAgent: null };
/** Nothing known about the previous address applies to a new one. */
const FORGET_CONTENT = { ...FORGET_VALIDATORS, contentSha256: null, contentBytes: null };

@Injectable()
export class SubscriptionsService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly schedules: RefreshSchedules,
    private readonly nodes: NodeWriter,
    private readonly kernel: KernelService,
    private readonly profiles: TakeProfile,
    @Inject(SECRET_BOX) private readonly box: SecretBox,
  ) {}

  async list(actor: Actor | null): Promise<ItemList<SubscriptionView>> {
    return this.unitOfWork.run(async (tx) => {
      const rows = await tx.find(SubscriptionEntity, { order: { id: 'ASC' } });
      const items = await this.views(tx, rows, actor);
      return { items, total: items.length };
    });
  }

  /** @throws AppError NOT_FOUND. */
  get(id: number, actor: Actor | null): Promise<SubscriptionView> {
    return this.unitOfWork.run(async (tx) => this.view(tx, await find(tx, id), actor));
  }

  /** The result of the last refresh, including skipped entries. @throws AppError NOT_FOUND. */
  async lastRefresh(id: number): Promise<RefreshResult> {
    const { lastResult } = await this.unitOfWork.run((tx) => find(tx, id));
    if (!lastResult) throw new AppError('NOT_FOUND', `Subscription ${id} has not been refreshed yet.`);
    return lastResult;
  }

  /** @throws AppError FORBIDDEN for private addresses. */
  async create(body: NewSubscription, actor: Actor | null): Promise<SubscriptionView> {
    refusePrivateSource(actor, null, { allowPrivate: body.allow_private ?? false, sealedUrl: null });
    const view = await this.unitOfWork.run(async (tx) => {
      const id = await takeRowId(tx, 'subscriptions');
      await tx.insert(
        SubscriptionEntity,
        tx.create(SubscriptionEntity, {
          id,
          name: body.name,
          sealedUrl: sealUrl(this.box, 'subscriptions', id, body.url),
          type: body.type ?? 'auto',
          intervalSec: body.interval_sec ?? DEFAULT_INTERVAL_SEC,
          intervalSource: body.interval_sec === undefined ? 'default' : 'user',
          enabled: body.enabled ?? true,
          userAgent: body.user_agent || null,
          allowPrivate: body.allow_private ?? false,
          bringRules: body.bring_rules ?? false,
          nextRefreshAt: (body.enabled ?? true) ? soon() : null,
        }),
      );
      // Read again for the columns that the database fills.
      return keepAnswer(tx, await this.view(tx, await find(tx, id), actor));
    });
    this.schedules.wake();
    return view;
  }

  /** @throws AppError NOT_FOUND, FORBIDDEN for private addresses. */
  async update(id: number, body: SubscriptionChanges, actor: Actor | null): Promise<SubscriptionView> {
    const view = await this.unitOfWork.run(async (tx) => {
      // In the order of a refresh: nodes first.
      if (body.bring_rules === false) await this.nodes.lock(tx);
      const found = await find(tx, id, true);
      const { allowPrivate, sealedUrl } = found;
      this.change(found, body);
      refusePrivateSource(actor, { allowPrivate, sealedUrl }, found);
      if (body.bring_rules === false) await this.profiles.drop(tx, id);
      return this.view(tx, await tx.save(found), actor);
    });
    this.schedules.wake();
    if (body.bring_rules === false) await this.kernel.sync();
    return view;
  }

  /** Deletes its nodes as well, except those that another subscription contains or that were added by hand. */
  async remove(id: number): Promise<SubscriptionDeletedResponse> {
    const removed = await this.unitOfWork.run(async (tx) => {
      await this.nodes.lock(tx);
      await find(tx, id, true);
      const carried: { node_id: number }[] = await tx.query(
        'SELECT node_id FROM node_sources WHERE subscription_id = $1',
        [id],
      );
      await this.profiles.drop(tx, id);
      await tx.delete(SubscriptionEntity, id);
      const count = await this.nodes.deleteOrphans(
        tx,
        carried.map(({ node_id }) => node_id),
      );
      await notify(tx, KERNEL_CONFIG_CHANNEL, '');
      return count;
    });
    await this.kernel.sync();
    return { id, deleted: true, removed_nodes: removed };
  }

  private change(row: SubscriptionEntity, body: SubscriptionChanges): void {
    const { type, userAgent, bringRules, enabled, intervalSec } = row;
    row.name = body.name ?? row.name;
    row.type = body.type ?? row.type;
    row.enabled = body.enabled ?? row.enabled;
    row.allowPrivate = body.allow_private ?? row.allowPrivate;
    row.bringRules = body.bring_rules ?? row.bringRules;
    if (body.user_agent !== undefined) row.userAgent = body.user_agent || null;
    // A form that sends back the value it was shown is not a choice.
    if (body.interval_sec !== undefined && body.interval_sec !== row.intervalSec) {
      Object.assign(row, { intervalSec: body.interval_sec, intervalSource: 'user' });
    }
    const elsewhere = body.url !== undefined && body.url !== tryOpenUrl(this.box, 'subscriptions', row);
    if (elsewhere)
      Object.assign(row, FORGET_CONTENT, { sealedUrl: sealUrl(this.box, 'subscriptions', row.id, body.url!) });
    const needsRefresh = elsewhere || row.type !== type || row.userAgent !== userAgent || row.bringRules !== bringRules;
    if (needsRefresh) Object.assign(row, FORGET_VALIDATORS);
    if (!row.enabled) row.nextRefreshAt = null;
    else if (needsRefresh || !enabled) row.nextRefreshAt = soon();
    else if (row.intervalSec !== intervalSec) row.nextRefreshAt = lastPlus(row);
  }

  private async view(tx: EntityManager, row: SubscriptionEntity, actor: Actor | null): Promise<SubscriptionView> {
    const [view] = await this.views(tx, [row], actor);
    return view!;
  }

  private async views(tx: EntityManager, rows: SubscriptionEntity[], actor: Actor | null): Promise<SubscriptionView[]> {
    const counts: { id: number; nodes: number; alive: number }[] = await tx.query(
      `SELECT source.subscription_id AS id, count(*)::integer AS nodes,
         count(*) FILTER (WHERE health.alive)::integer AS alive
       FROM node_sources source
       LEFT JOIN node_health health ON health.node_id = source.node_id AND health.test_url = ''
       WHERE source.subscription_id = ANY($1::bigint[]) GROUP BY source.subscription_id`,
      [rows.map(({ id }) => id)],
    );
    const countsOf = new Map(counts.map((count) => [count.id, count]));
    const showSecrets = maySeeSecrets(actor);
    return rows.map((row) => {
      const { nodes: nodeCount = 0, alive: aliveCount = 0 } = countsOf.get(row.id) ?? {};
      return toSubscriptionView(row, {
        url: tryOpenUrl(this.box, 'subscriptions', row),
        nodeCount,
        aliveCount,
        showSecrets,
      });
    });
  }
}

function soon(): Date {
  return new Date(Date.now() + FIRST_REFRESH_MS);
}

/** One interval after the last attempt, but not in the past. */
function lastPlus({ lastCheckedAt, intervalSec }: SubscriptionEntity): Date {
  const due = (lastCheckedAt?.getTime() ?? Date.now()) + intervalSec * 1000;
  return new Date(Math.max(due, Date.now() + FIRST_REFRESH_MS));
}

async function find(tx: EntityManager, id: number, lock = false): Promise<SubscriptionEntity> {
  const row = await tx.findOne(SubscriptionEntity, {
    where: { id },
    ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
  });
  if (!row) throw notFound(id);
  return row;
}
