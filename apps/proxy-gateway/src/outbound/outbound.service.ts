import type { DefaultPolicyResult, GroupSwitchResult, GroupSwitchView, OutboundOverview } from '@gatehouse/contracts';
import { notify, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';
import { mapKernelConfig, nodeTag } from '../kernel-host/kernel-config.mapper.js';
import type { KernelConfigRows } from '../kernel-host/kernel-config.mapper.js';
import { KernelConfigSource } from '../kernel-host/kernel-config.source.js';
import { KernelService } from '../kernel-host/kernel.service.js';
import { Preferences } from '../preferences/preferences.service.js';
import { SERVICE_VERSION } from '../service-version.js';
import { OutboundGroupEntity } from './outbound-group.entity.js';
import { OutboundPolicyEntity } from './outbound-policy.entity.js';
import type { CloseChoice } from './outbound.dto.js';
import { toOutboundOverview } from './outbound.view.js';
import { PolicyOptions } from './policy-options.js';
import { resolvePolicy } from './policy-reference.js';

@Injectable()
export class OutboundService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly source: KernelConfigSource,
    private readonly options: PolicyOptions,
    private readonly kernel: KernelService,
    private readonly preferences: Preferences,
  ) {}

  async overview(): Promise<OutboundOverview> {
    const rows = await this.source.load();
    const { config } = mapKernelConfig(rows);
    const entities = await this.unitOfWork.run((tx) => tx.find(OutboundGroupEntity));
    const byName = new Map(entities.map((row) => [row.name, row]));
    const groups = config.groups.flatMap((group) => {
      const row = byName.get(group.name);
      return row ? [{ row, config: group }] : [];
    });
    return toOutboundOverview({
      groups,
      nodes: cards(rows),
      defaultPolicy: config.defaultPolicy,
      kernel: { type: 'embedded', version: SERVICE_VERSION, state: this.kernel.state },
    });
  }

  /**
   * Chooses a member of a group, for new connections of every kernel.
   * @throws AppError NOT_FOUND for the group; UNPROCESSABLE, CONFLICT for the member.
   */
  async switchGroup(name: string, proxy: string, close: CloseChoice | undefined): Promise<GroupSwitchResult> {
    const rows = await this.source.load();
    const group = mapKernelConfig(rows).config.groups.find((candidate) => candidate.name === name);
    if (!group) throw new AppError('NOT_FOUND', `There is no group ${JSON.stringify(name)}.`);
    const chosen = resolvePolicy(proxy, await this.options.ofGroup(rows, group), 'proxy');
    const previousTag = group.selected ?? group.members[0] ?? null;
    const previous = previousTag === null ? null : (cards(rows).get(previousTag)?.name ?? previousTag);
    await this.unitOfWork.run(async (tx) => {
      const lastSwitch: GroupSwitchView = {
        at: new Date().toISOString(),
        from: previous,
        to: chosen.name,
        reason: 'manual',
      };
      const change = { selectedTag: chosen.tag, selectedName: chosen.name };
      const moved = chosen.tag === previousTag ? {} : { lastSwitch };
      await tx.update(OutboundGroupEntity, { name }, { ...change, ...moved });
      await notify(tx, KERNEL_CONFIG_CHANNEL, '');
    });
    await this.kernel.sync();
    const closed = chosen.tag === previousTag ? 0 : await this.closeConnections(name, close);
    return { name, type: group.type, now: chosen.name, now_proxy: chosen.tag, previous, closed_connections: closed };
  }

  /** @throws AppError UNPROCESSABLE, CONFLICT. */
  async setDefaultPolicy(policy: string): Promise<DefaultPolicyResult> {
    const rows = await this.source.load();
    const chosen = resolvePolicy(policy, await this.options.all(rows), 'policy');
    const before = mapKernelConfig(rows).config.defaultPolicy;
    await this.unitOfWork.run(async (tx) => {
      await tx.update(OutboundPolicyEntity, 1, { defaultPolicy: chosen.tag });
      await notify(tx, KERNEL_CONFIG_CHANNEL, '');
    });
    await this.kernel.sync();
    const previous = cards(rows).get(before)?.name ?? before;
    return { default_policy: chosen.name, proxy: chosen.tag, previous };
  }

  private async closeConnections(group: string, close: CloseChoice | undefined): Promise<number> {
    const choice = close ?? this.preferences.get('switch.close_connections');
    if (choice === 'none') return 0;
    try {
      return await this.kernel.closeConnections(choice === 'group' ? { group } : {});
    } catch (error) {
      // A kernel that is down has no connections left to close; the choice itself is stored.
      if (error instanceof AppError && error.code === 'KERNEL_UNAVAILABLE') return 0;
      throw error;
    }
  }
}

function cards({ nodes }: KernelConfigRows) {
  return new Map(nodes.map(({ id, name, country, node }) => [nodeTag(id), { id, name, country, type: node.type }]));
}
