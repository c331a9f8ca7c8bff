import type { ProxyNode } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { mapKernelConfig, nodeTag } from '../kernel-config/kernel-config.mapper.js';
import type { KernelConfigRows, MappedConfig } from '../kernel-config/kernel-config.mapper.js';
import { KernelConfigSource } from '../kernel-config/kernel-config.source.js';
import { kernelSupport } from '../kernel-config/kernel-support.js';
import { NodeVault, UNREADABLE_NODE } from '../data/node-vault.js';
import { resolveDialers } from '../kernel-config/resolve-dialers.js';
import { nodeIdOf } from '../data/flow-names.js';
import { DialPaths } from './dial-path.js';
import { KernelProbe } from './kernel-probe.js';
import type { NodeTarget } from './node-tester.js';

export interface TargetSet {
  targets: NodeTarget[];
  /** Enabled nodes that this kernel does not dial, with the reason. */
  skipped: { id: number; name: string; reason: string }[];
}

interface NodeRow {
  id: number;
  name: string;
  config: string;
  subscription_ids: number[];
}

const SELECT_NODE = `
  SELECT id, coalesce(custom_name, original_name) AS name, config,
    ARRAY(SELECT subscription_id FROM node_sources WHERE node_id = nodes.id) AS subscription_ids
  FROM nodes WHERE id = $1`;

/** Finds the nodes that can be measured here, each with the nodes it is dialled through. */
@Injectable()
export class ProbeTargets {
  constructor(
    private readonly source: KernelConfigSource,
    private readonly dataSource: DataSource,
    private readonly vault: NodeVault,
    private readonly kernel: KernelProbe,
  ) {}

  /**
   * Enabled nodes that the kernel dials, with `ids` only those. A node that only an external kernel can dial is measured
   * by that kernel if this process has it; any other measurement would report it as dead.
   */
  async all(ids?: readonly number[]): Promise<TargetSet> {
    const { rows, mapped, paths } = await this.load();
    const names = new Map(rows.nodes.map(({ id, name }) => [id, name]));
    const wanted = ids === undefined ? null : new Set(ids);
    const isWanted = (id: number): boolean => wanted === null || wanted.has(id);
    const set: TargetSet = { targets: [], skipped: [] };
    for (const { tag, node, dialer } of mapped.config.outbounds) {
      const id = nodeIdOf(tag);
      if (id === null || !isWanted(id)) continue;
      const name = names.get(id) ?? tag;
      const via = paths.to(dialer);
      const reason = via ? foreign([...via, node]) : `its dialer ${dialer ?? ''} leads nowhere`;
      if (via && reason === null) set.targets.push({ id, name, node, via });
      else if (via && this.kernel.available) set.targets.push({ id, name, node, via, byKernel: true });
      else set.skipped.push({ id, name, reason: reason ?? '' });
    }
    for (const { node_id: id, name, reason } of mapped.leftOut) {
      if (isWanted(id)) set.skipped.push({ id, name, reason });
    }
    return set;
  }

  /**
   * Also for a disabled node, since users test before they enable. @throws AppError NOT_FOUND; UNPROCESSABLE with the
   * reason.
   */
  async one(id: number): Promise<NodeTarget> {
    const [row]: NodeRow[] = await this.dataSource.query(SELECT_NODE, [id]);
    if (!row) throw new AppError('NOT_FOUND', `There is no node ${id}.`);
    const node = this.vault.tryOpen(row);
    if (!node) throw cannotTest(id, UNREADABLE_NODE);
    const { support, reason } = kernelSupport(node);
    const { available } = this.kernel;
    if (support === 'unsupported' || (reason !== null && !available)) throw cannotTest(id, reason ?? support);
    if (!node.dialerProxy) return { id, name: row.name, node, ...(reason !== null && { byKernel: true }) };
    const { rows, mapped, paths } = await this.load();
    const usable = new Set(mapped.config.outbounds.map(({ tag }) => tag));
    const others = rows.nodes.filter((other) => other.id !== id && usable.has(nodeTag(other.id)));
    const self = { id, name: row.name, node, subscriptionIds: row.subscription_ids };
    const groups = new Map(mapped.config.groups.map(({ name, members }) => [name, members]));
    const resolved = resolveDialers([self, ...others], groups).get(id);
    if (!resolved || 'reason' in resolved) throw cannotTest(id, resolved?.reason ?? 'its dialer is not known');
    const via = paths.to(resolved.dialer ?? undefined);
    if (!via) throw cannotTest(id, `its dialer ${resolved.dialer ?? ''} leads nowhere`);
    const byKernel = available && foreign([...via, node]) !== null;
    return { id, name: row.name, node, via, ...(byKernel && { byKernel }) };
  }

  private async load(): Promise<{ rows: KernelConfigRows; mapped: MappedConfig; paths: DialPaths }> {
    const rows = await this.source.load();
    const mapped = mapKernelConfig(rows);
    const alive = new Set(rows.nodes.filter((node) => node.alive === true).map(({ id }) => nodeTag(id)));
    return { rows, mapped, paths: new DialPaths(mapped.config, (tag) => alive.has(tag)) };
  }
}

/** Why one of the hops cannot be dialled by this process; null if all can. */
function foreign(hops: readonly ProxyNode[]): string | null {
  return hops.map((hop) => kernelSupport(hop).reason).find((reason) => reason !== null) ?? null;
}

function cannotTest(id: number, reason: string): AppError {
  return new AppError('UNPROCESSABLE', `Node ${id} cannot be tested here: ${reason}.`);
}
