import type { GroupConfig } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { nodeTag } from '../kernel-config/kernel-config.mapper.js';
import type { MappedConfig } from '../kernel-config/kernel-config.mapper.js';
import { NODE_NAME, QUALIFIED_NAMES } from '../data/node-names.js';
import { BUILT_IN } from './outbound.view.js';
import type { PolicyOption } from './policy-reference.js';

interface NodeRow {
  id: number;
  name: string;
  enabled: boolean;
  qualified: string[];
}

/** All possible targets, with the reason why some cannot be chosen. */
@Injectable()
export class PolicyOptions {
  constructor(private readonly dataSource: DataSource) {}

  async all({ config, leftOut }: MappedConfig): Promise<PolicyOption[]> {
    const nodes: NodeRow[] = await this.dataSource.query(
      `SELECT id, ${NODE_NAME} AS name, enabled, ${QUALIFIED_NAMES} AS qualified FROM nodes`,
    );
    const reasons = new Map(leftOut.map((node) => [node.node_id, node.reason]));
    return [
      ...BUILT_IN.map((tag) => ({ tag, name: tag, problem: null })),
      ...config.groups.map(({ name }) => ({ tag: name, name, problem: null })),
      ...nodes.map(({ id, name, enabled, qualified }) => {
        const reason = reasons.get(id);
        const dialable = reason === undefined ? null : `cannot be dialled: ${reason}`;
        return { tag: nodeTag(id), name, qualified, problem: enabled ? dialable : 'is disabled' };
      }),
    ];
  }

  async ofGroup(mapped: MappedConfig, { name, members }: GroupConfig): Promise<PolicyOption[]> {
    const inside = new Set(members);
    const options = await this.all(mapped);
    return options.map((option) =>
      option.problem !== null || inside.has(option.tag)
        ? option
        : { ...option, problem: `is not a member of the group ${name}` },
    );
  }
}
