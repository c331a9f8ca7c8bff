import { notify } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';
import { mapInSlices } from '../nodes/in-slices.js';
import { NodeWriter } from '../nodes/node-writer.js';
import type { CurrentNode, ParsedEntry, PlannedNode, ReplacePlan } from './plan-refresh.js';

interface CurrentRow {
  id: number;
  fingerprint: string;
  type: string;
  name: string;
  shared: boolean;
  config: string;
}

const SELECT_CURRENT = `
  SELECT node.id, node.fingerprint, node.type, source.name, node.config,
    node.source = 'manual' OR EXISTS (
      SELECT 1 FROM node_sources other WHERE other.node_id = node.id AND other.subscription_id <> $1
    ) AS shared
  FROM node_sources source JOIN nodes node ON node.id = source.node_id
  WHERE source.subscription_id = $1
  ORDER BY source.position`;

const UPSERT_SOURCES = `
  INSERT INTO node_sources AS source (subscription_id, node_id, name, position)
  SELECT $1, entry.* FROM unnest($2::bigint[], $3::text[], $4::integer[]) AS entry
  ON CONFLICT (subscription_id, node_id) DO UPDATE SET name = excluded.name, position = excluded.position
  WHERE (source.name, source.position) IS DISTINCT FROM (excluded.name, excluded.position)`;

/** Reads and replaces the nodes of one subscription as a whole, within the caller's transaction. */
@Injectable()
export class NodeSetStore {
  constructor(private readonly nodes: NodeWriter) {}

  /** Makes writers of node sets take turns until their transactions end. */
  lock(tx: EntityManager): Promise<void> {
    return this.nodes.lock(tx);
  }

  async current(tx: EntityManager, subscriptionId: number): Promise<(CurrentNode & { config: string })[]> {
    const rows: CurrentRow[] = await tx.query(SELECT_CURRENT, [subscriptionId]);
    return rows;
  }

  /** Those of the fingerprints that have a row, from any source. */
  async known(tx: EntityManager, entries: readonly ParsedEntry[]): Promise<Set<string>> {
    const fingerprints = entries.map(({ fingerprint }) => fingerprint);
    const rows: { fingerprint: string }[] = await tx.query(
      'SELECT fingerprint FROM nodes WHERE fingerprint = ANY($1::text[])',
      [fingerprints],
    );
    return new Set(rows.map(({ fingerprint }) => fingerprint));
  }

  /** Returns whether anything changed that a kernel configuration contains. */
  async replace(
    tx: EntityManager,
    subscriptionId: number,
    plan: ReplacePlan,
    current: readonly (CurrentNode & { config: string })[],
  ): Promise<boolean> {
    const rewritten = [...plan.update, ...(await this.altered(plan, current))];
    await this.nodes.rewrite(tx, rewritten);
    const ids = await this.nodes.upsert(tx, plan.add, 'subscription');
    const added = plan.add.map((entry) => ({ ...entry, id: ids.get(entry.fingerprint)! }));
    await this.link(tx, subscriptionId, [...plan.retain, ...plan.update, ...added]);
    await tx.query('DELETE FROM node_sources WHERE subscription_id = $1 AND node_id = ANY($2::bigint[])', [
      subscriptionId,
      plan.remove,
    ]);
    await this.nodes.deleteOrphans(tx, plan.remove);
    const changed = rewritten.length + added.length + plan.remove.length > 0;
    if (changed) await notify(tx, KERNEL_CONFIG_CHANNEL, '');
    return changed;
  }

  /** Nodes with the same fingerprint but another name or another option outside the fingerprint. */
  private async altered(
    { retain }: ReplacePlan,
    current: readonly (CurrentNode & { config: string })[],
  ): Promise<ReplacePlan['retain']> {
    const rows = new Map(current.map((row) => [row.id, row]));
    const differs = await mapInSlices(retain, ({ id, node }) => {
      const row = rows.get(id);
      return row !== undefined && !row.shared && !this.nodes.isSame(row, node);
    });
    return retain.filter((_node, index) => differs[index]);
  }

  private async link(
    tx: EntityManager,
    subscriptionId: number,
    nodes: (PlannedNode & { id: number })[],
  ): Promise<void> {
    await tx.query(UPSERT_SOURCES, [
      subscriptionId,
      nodes.map(({ id }) => id),
      nodes.map(({ node }) => node.name),
      nodes.map(({ position }) => position),
    ]);
  }
}
