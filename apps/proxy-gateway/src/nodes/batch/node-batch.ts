import type { NodeBatchAction, NodeBatchFailure, NodeBatchResult } from '@gatehouse/contracts';
import { notify, UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { In, type EntityManager } from 'typeorm';
import { NodeEntity } from '../../data/node.entity.js';
import { KERNEL_CONFIG_CHANNEL } from '../../kernel-config-channel.js';
import { KernelService } from '../../kernel-process/kernel.service.js';
import { NodeWriter } from '../node-writer.js';
import { nodeNotFound } from '../nodes.query.js';
import { belongsToSubscription } from '../nodes.service.js';
import type { NodeBatchBody } from './node-batch.dto.js';

/** Changes many nodes in one transaction, and the kernel's configuration once. */
@Injectable()
export class NodeBatch {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly writer: NodeWriter,
    private readonly kernel: KernelService,
  ) {}

  /** Nodes that cannot be changed are left as they are and listed in the answer; the others are changed. */
  async run({ action, ids }: NodeBatchBody): Promise<NodeBatchResult> {
    const result = await this.unitOfWork.run(async (tx) => {
      await this.writer.lock(tx);
      const rows = await tx.find(NodeEntity, { select: { id: true, source: true }, where: { id: In(ids) } });
      const checked = check(action, new Set(ids), rows);
      if (checked.done.length > 0) {
        await this.change(tx, action, checked.done);
        await notify(tx, KERNEL_CONFIG_CHANNEL, '');
      }
      return checked;
    });
    if (result.done.length > 0) await this.kernel.sync();
    return { action, ...result };
  }

  private async change(tx: EntityManager, action: NodeBatchAction, ids: number[]): Promise<void> {
    if (action !== 'delete') {
      await tx.update(NodeEntity, { id: In(ids) }, { enabled: action === 'enable' });
      return;
    }
    // A node that a subscription contains as well stays as that subscription's node.
    await tx.update(NodeEntity, { id: In(ids) }, { source: 'subscription' });
    await this.writer.deleteOrphans(tx, ids);
  }
}

function check(
  action: NodeBatchAction,
  ids: ReadonlySet<number>,
  rows: readonly Pick<NodeEntity, 'id' | 'source'>[],
): { done: number[]; failed: NodeBatchFailure[] } {
  const sources = new Map(rows.map(({ id, source }) => [id, source]));
  const done: number[] = [];
  const failed: NodeBatchFailure[] = [];
  for (const id of ids) {
    const source = sources.get(id);
    const error =
      source === undefined
        ? nodeNotFound(id)
        : action === 'delete' && source !== 'manual'
          ? belongsToSubscription(id)
          : null;
    if (error === null) done.push(id);
    else failed.push({ id, code: error.code, message: error.message });
  }
  return { done, failed };
}
