import type { NodeBatchFailure, NodeBatchResult } from '@gatehouse/contracts';
import { notify, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { In, type EntityManager } from 'typeorm';
import { NodeEntity } from '../../data/node.entity.js';
import { KERNEL_CONFIG_CHANNEL } from '../../kernel-config-channel.js';
import { KernelService } from '../../kernel-process/kernel.service.js';
import { NodeWriter } from '../node-writer.js';
import { MAX_TAGS } from '../node-labels.js';
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
  async run(body: NodeBatchBody): Promise<NodeBatchResult> {
    const result = await this.unitOfWork.run(async (tx) => {
      await this.writer.lock(tx);
      const rows = await tx.find(NodeEntity, {
        select: { id: true, source: true, tags: true },
        where: { id: In(body.ids) },
      });
      const known = new Map(rows.map((row) => [row.id, row]));
      const checked = check(body, known);
      if (checked.done.length > 0) {
        await this.change(
          tx,
          body,
          checked.done.map((id) => known.get(id)!),
        );
        await notify(tx, KERNEL_CONFIG_CHANNEL, '');
      }
      return checked;
    });
    if (result.done.length > 0) await this.kernel.sync();
    return { action: body.action, ...result };
  }

  private async change(tx: EntityManager, body: NodeBatchBody, rows: readonly BatchRow[]): Promise<void> {
    const { action } = body;
    if (action === 'tag' || action === 'untag') return changeTags(tx, body, rows);
    const ids = rows.map(({ id }) => id);
    if (action !== 'delete') {
      await tx.update(NodeEntity, { id: In(ids) }, { enabled: action === 'enable' });
      return;
    }
    // A node that a subscription contains as well stays as that subscription's node.
    await tx.update(NodeEntity, { id: In(ids) }, { source: 'subscription' });
    await this.writer.deleteOrphans(tx, ids);
  }
}

type BatchRow = Pick<NodeEntity, 'id' | 'source' | 'tags'>;

function check(
  body: NodeBatchBody,
  known: ReadonlyMap<number, BatchRow>,
): { done: number[]; failed: NodeBatchFailure[] } {
  const done: number[] = [];
  const failed: NodeBatchFailure[] = [];
  for (const id of new Set(body.ids)) {
    const row = known.get(id);
    const error = row === undefined ? nodeNotFound(id) : obstacle(body, row);
    if (error === null) done.push(id);
    else failed.push({ id, code: error.code, message: error.message });
  }
  return { done, failed };
}

/** Why a node cannot be changed like this. */
function obstacle(body: NodeBatchBody, row: BatchRow): AppError | null {
  if (body.action === 'delete' && row.source !== 'manual') return belongsToSubscription(row.id);
  if (body.action === 'tag' && tagsAfter(body, row).length > MAX_TAGS)
    return new AppError('CONFLICT', `Node ${row.id} would have more than ${MAX_TAGS} tags.`);
  return null;
}

function tagsAfter({ action, tags = [] }: NodeBatchBody, row: BatchRow): string[] {
  if (action === 'tag') return [...new Set([...row.tags, ...tags])];
  return row.tags.filter((tag) => !tags.includes(tag));
}

/** One statement for all nodes that end with the same tags. */
async function changeTags(tx: EntityManager, body: NodeBatchBody, rows: readonly BatchRow[]): Promise<void> {
  const alike = Map.groupBy(rows, (row) => JSON.stringify(tagsAfter(body, row)));
  for (const same of alike.values()) {
    const tags = tagsAfter(body, same[0]!);
    await tx.update(NodeEntity, { id: In(same.map(({ id }) => id)) }, { tags });
  }
}
