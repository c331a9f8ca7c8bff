import { keepAnswer, type Actor } from '@gatehouse/auth';
import type { NodeDeletedResponse, NodeView, Page } from '@gatehouse/contracts';
import { notify, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { maySeeSecrets } from '../auth/may-see-secrets.js';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { CountryChoice } from './country-choice.js';
import type { NewNodeBody, NodeChanges, NodeQuery } from './node.dto.js';
import { NodeEntity } from '../data/node.entity.js';
import { NodeWriter } from './node-writer.js';
import type { NewNode } from './node-writer.js';
import { nodeNotFound, NodesQuery } from './nodes.query.js';
import { readRawConfig } from './raw-config.js';

@Injectable()
export class NodesService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly writer: NodeWriter,
    private readonly query: NodesQuery,
    private readonly choice: CountryChoice,
    private readonly kernel: KernelService,
  ) {}

  list(query: NodeQuery, actor: Actor | null): Promise<Page<NodeView>> {
    return this.query.page(query, maySeeSecrets(actor));
  }

  /**
   * @throws AppError INVALID_ARGUMENT for a definition that cannot be read, CONFLICT naming the node that already
   * exists.
   */
  create(body: NewNodeBody, actor: Actor | null): Promise<NodeView> {
    const wanted = readRawConfig(body.raw_config, body);
    return this.change(actor, async (tx) => {
      await this.writer.lock(tx);
      const existing = await tx.findOneBy(NodeEntity, { fingerprint: wanted.fingerprint });
      if (existing) throw duplicate(existing);
      const ids = await this.writer.upsert(tx, [wanted], 'manual');
      return ids.get(wanted.fingerprint)!;
    });
  }

  /**
   * @throws AppError NOT_FOUND; CONFLICT for a new definition of a node from a subscription, or one that already
   * exists.
   */
  async update(id: number, body: NodeChanges, actor: Actor | null): Promise<NodeView> {
    const view = await this.change(actor, async (tx) => {
      await this.writer.lock(tx);
      const row = await find(tx, id);
      if (body.raw_config !== undefined || body.type !== undefined) await this.redefine(tx, row, body);
      const changed = await find(tx, id);
      this.relabel(changed, body);
      await tx.save(changed);
      return id;
    });
    if (body.country === null) await this.choice.detectSoon(id);
    return view;
  }

  /** @throws AppError NOT_FOUND; CONFLICT for a node that comes from a subscription only. */
  async remove(id: number): Promise<NodeDeletedResponse> {
    await this.unitOfWork.run(async (tx) => {
      await this.writer.lock(tx);
      const row = await find(tx, id);
      if (row.source !== 'manual') {
        throw belongsToSubscription(id);
      }
      // A node that a subscription contains as well stays as that subscription's node.
      await tx.update(NodeEntity, id, { source: 'subscription' });
      await this.writer.deleteOrphans(tx, [id]);
      await notify(tx, KERNEL_CONFIG_CHANNEL, '');
    });
    await this.kernel.sync();
    return { id, deleted: true };
  }

  private async change(actor: Actor | null, work: (tx: EntityManager) => Promise<number>): Promise<NodeView> {
    const view = await this.unitOfWork.run(async (tx) => {
      const id = await work(tx);
      await notify(tx, KERNEL_CONFIG_CHANNEL, '');
      return keepAnswer(tx, await this.query.one(tx, id, maySeeSecrets(actor)));
    });
    await this.kernel.sync();
    return view;
  }

  private async redefine(tx: EntityManager, row: NodeEntity, body: NodeChanges): Promise<void> {
    if (row.source !== 'manual' || (await isCarried(tx, row.id))) {
      const message =
        'The definition of this node comes from a subscription; only name, enabled, country and tags can be changed.';
      throw new AppError('CONFLICT', message);
    }
    if (body.raw_config === undefined) {
      if (body.type === row.type) return;
      throw new AppError('INVALID_ARGUMENT', 'type changes only together with raw_config', {
        details: [{ field: 'raw_config', message: 'is needed to change the type' }],
      });
    }
    const wanted = readRawConfig(body.raw_config, {
      ...(body.type ? { type: body.type } : {}),
      name: row.originalName,
    });
    await this.rewrite(tx, row, wanted);
  }

  private async rewrite(tx: EntityManager, row: NodeEntity, wanted: NewNode): Promise<void> {
    const other = await tx.findOneBy(NodeEntity, { fingerprint: wanted.fingerprint });
    if (other && other.id !== row.id) throw duplicate(other);
    await this.writer.rewrite(tx, [{ ...wanted, id: row.id }]);
  }

  private relabel(row: NodeEntity, body: NodeChanges): void {
    if (body.name !== undefined) row.customName = body.name || null;
    row.enabled = body.enabled ?? row.enabled;
    row.tags = body.tags ?? row.tags;
    if (body.country !== undefined) this.choice.make(row, body.country);
  }
}

export function belongsToSubscription(id: number): AppError {
  return new AppError('CONFLICT', `Node ${id} belongs to a subscription; disable it, or delete the subscription.`);
}

async function find(tx: EntityManager, id: number): Promise<NodeEntity> {
  const row = await tx.findOneBy(NodeEntity, { id });
  if (!row) throw nodeNotFound(id);
  return row;
}

async function isCarried(tx: EntityManager, id: number): Promise<boolean> {
  const rows: unknown[] = await tx.query('SELECT 1 FROM node_sources WHERE node_id = $1 LIMIT 1', [id]);
  return rows.length > 0;
}

function duplicate({ id }: NodeEntity): AppError {
  const message = `Node ${id} connects to the same server in the same way.`;
  return new AppError('CONFLICT', message, {
    details: [{ field: 'raw_config', message: `is the same node as ${id}` }],
  });
}
