import type { GroupConfig } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { nodeTag } from '../kernel-host/kernel-config.mapper.js';
import type { KernelConfigRows } from '../kernel-host/kernel-config.mapper.js';
import { BUILT_IN } from './outbound.view.js';
import type { PolicyOption } from './policy-reference.js';

/** Everything that could be meant, with why some of it cannot be chosen. */
@Injectable()
export class PolicyOptions {
  constructor(private readonly dataSource: DataSource) {}

  async all(rows: KernelConfigRows): Promise<PolicyOption[]> {
    const disabled: { id: number; name: string }[] = await this.dataSource.query(
      'SELECT id, coalesce(custom_name, original_name) AS name FROM nodes WHERE NOT enabled',
    );
    return [
      ...BUILT_IN.map((tag) => ({ tag, name: tag, problem: null })),
      ...rows.groups.map(({ name }) => ({ tag: name, name, problem: null })),
      ...rows.nodes.map(({ id, name, unsupportedReason }) => ({
        tag: nodeTag(id),
        name,
        problem: unsupportedReason === null ? null : `cannot be dialled: ${unsupportedReason}`,
      })),
      ...disabled.map(({ id, name }) => ({ tag: nodeTag(id), name, problem: 'is disabled' })),
    ];
  }

  async ofGroup(rows: KernelConfigRows, { name, members }: GroupConfig): Promise<PolicyOption[]> {
    const inside = new Set(members);
    const options = await this.all(rows);
    return options.map((option) =>
      option.problem !== null || inside.has(option.tag)
        ? option
        : { ...option, problem: `is no member of the group ${name}` },
    );
  }
}
