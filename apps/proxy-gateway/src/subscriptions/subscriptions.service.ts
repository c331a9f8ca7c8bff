import { allows } from '@gatehouse/auth';
import type { Actor } from '@gatehouse/auth';
import type { ItemList, SubscriptionView } from '@gatehouse/contracts';
import { notify, UnitOfWork } from '@gatehouse/persistence';
import type { SecretBox } from '@gatehouse/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';
import { KernelService } from '../kernel-host/kernel.service.js';
import { NodeWriter } from '../nodes/node-writer.js';
import { SECRET_BOX } from '../secret-box.token.js';
import { RefreshSchedules } from './refresh-schedules.js';
import { notFound } from './refresh-subscription.js';
import type { NewSubscription, SubscriptionChanges } from './subscription.dto.js';
import { SubscriptionEntity } from './subscription.entity.js';
import { toSubscriptionView } from './subscription.view.js';

const DEFAULT_INTERVAL_SEC = 3_600;
/** "Not modified" speaks of what was asked for and how it was read: with either changed, the content is read anew. */
const FORGET_VALIDATORS = { etag: null, lastModified: null };
/** What was learned of a former address says nothing about a new one. */
const FORGET_CONTENT = { ...FORGET_VALIDATORS, contentSha256: null, contentBytes: null };

@Injectable()
export class SubscriptionsService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly schedules: RefreshSchedules,
    private readonly nodes: NodeWriter,
    private readonly kernel: KernelService,
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

  async create(body: NewSubscription, actor: Actor | null): Promise<SubscriptionView> {
    const { row, view } = await this.unitOfWork.run(async (tx) => {
      const saved = await tx.save(
        tx.create(SubscriptionEntity, {
          name: body.name,
          sealedUrl: this.box.seal(body.url),
          type: body.type ?? 'auto',
          intervalSec: body.interval_sec ?? DEFAULT_INTERVAL_SEC,
          enabled: body.enabled ?? true,
          userAgent: body.user_agent || null,
          allowPrivate: body.allow_private ?? false,
        }),
      );
      // Read back, for the columns that the database fills.
      const created = await find(tx, saved.id);
      return { row: created, view: await this.view(tx, created, actor) };
    });
    await this.schedules.follow(row);
    return view;
  }

  /** @throws AppError NOT_FOUND. */
  async update(id: number, body: SubscriptionChanges, actor: Actor | null): Promise<SubscriptionView> {
    const { row, view } = await this.unitOfWork.run(async (tx) => {
      const found = await find(tx, id, true);
      this.change(found, body);
      const saved = await tx.save(found);
      return { row: saved, view: await this.view(tx, saved, actor) };
    });
    await this.schedules.follow(row);
    return view;
  }

  /** Its nodes go with it, but for those that another subscription carries or that were added by hand. */
  async remove(id: number): Promise<{ id: number; deleted: true; removed_nodes: number }> {
    const removed = await this.unitOfWork.run(async (tx) => {
      await this.nodes.lock(tx);
      await find(tx, id, true);
      const carried: { node_id: number }[] = await tx.query(
        'SELECT node_id FROM node_sources WHERE subscription_id = $1',
        [id],
      );
      await tx.delete(SubscriptionEntity, id);
      const count = await this.nodes.deleteOrphans(
        tx,
        carried.map(({ node_id }) => node_id),
      );
      await notify(tx, KERNEL_CONFIG_CHANNEL, '');
      return count;
    });
    await this.schedules.forget(id);
    await this.kernel.sync();
    return { id, deleted: true, removed_nodes: removed };
  }

  private change(row: SubscriptionEntity, body: SubscriptionChanges): void {
    const { type, userAgent } = row;
    row.name = body.name ?? row.name;
    row.type = body.type ?? row.type;
    row.intervalSec = body.interval_sec ?? row.intervalSec;
    row.enabled = body.enabled ?? row.enabled;
    row.allowPrivate = body.allow_private ?? row.allowPrivate;
    if (body.user_agent !== undefined) row.userAgent = body.user_agent || null;
    if (row.type !== type || row.userAgent !== userAgent) Object.assign(row, FORGET_VALIDATORS);
    if (body.url === undefined || body.url === this.box.open(row.sealedUrl)) return;
    Object.assign(row, FORGET_CONTENT, { sealedUrl: this.box.seal(body.url) });
  }

  private async view(tx: EntityManager, row: SubscriptionEntity, actor: Actor | null): Promise<SubscriptionView> {
    const [view] = await this.views(tx, [row], actor);
    return view!;
  }

  private async views(tx: EntityManager, rows: SubscriptionEntity[], actor: Actor | null): Promise<SubscriptionView[]> {
    const counts: { id: number; count: number }[] = await tx.query(
      `SELECT subscription_id AS id, count(*)::integer AS count FROM node_sources
       WHERE subscription_id = ANY($1::bigint[]) GROUP BY subscription_id`,
      [rows.map(({ id }) => id)],
    );
    const countOf = new Map(counts.map(({ id, count }) => [id, count]));
    const showSecrets = actor === null || allows(actor, 'write');
    return rows.map((row) =>
      toSubscriptionView(row, { url: this.box.open(row.sealedUrl), nodeCount: countOf.get(row.id) ?? 0, showSecrets }),
    );
  }
}

async function find(tx: EntityManager, id: number, lock = false): Promise<SubscriptionEntity> {
  const row = await tx.findOne(SubscriptionEntity, {
    where: { id },
    ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
  });
  if (!row) throw notFound(id);
  return row;
}
