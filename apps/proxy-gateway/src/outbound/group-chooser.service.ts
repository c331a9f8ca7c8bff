import type { GroupSwitchResult } from '@gatehouse/contracts';
import { notify, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import type { GroupConfig } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { KERNEL_CONFIG_CHANNEL, ONLY_SELECTIONS } from '../kernel-config-channel.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { Preferences } from '../preferences/preferences.service.js';
import { CurrentConfig } from './current-config.js';
import { groupNotFound } from './group-facts.js';
import { GroupSwitches } from '../data/group-switches.js';
import type { SwitchEnd } from '../data/group-switches.js';
import { OutboundGroupEntity } from '../data/outbound-group.entity.js';
import type { CloseChoice } from './outbound.dto.js';
import { PolicyOptions } from './policy-options.js';
import { resolvePolicy } from './policy-reference.js';
import type { PolicyOption } from './policy-reference.js';

interface Using {
  tag: string | null;
  fixed: boolean;
}

/** Lets users choose a member of a group, and take the choice back. */
@Injectable()
export class GroupChooser {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly current: CurrentConfig,
    private readonly options: PolicyOptions,
    private readonly kernel: KernelService,
    private readonly preferences: Preferences,
    private readonly switches: GroupSwitches,
  ) {}

  /**
   * Chooses the member of a group that new connections use, in every kernel.
   * @throws AppError NOT_FOUND for the group; UNPROCESSABLE or CONFLICT for the member, or for a group that spreads
   * connections.
   */
  async choose(name: string, proxy: string, close: CloseChoice | undefined): Promise<GroupSwitchResult> {
    const { options, group } = await this.find(name);
    const chosen = resolvePolicy(proxy, options, 'proxy');
    return this.change(group, options, { tag: chosen.tag, name: chosen.name }, close);
  }

  /**
   * Takes the choice back, so that the group decides again. @throws AppError NOT_FOUND; UNPROCESSABLE as for `choose`.
   */
  async release(name: string, close: CloseChoice | undefined): Promise<GroupSwitchResult> {
    const { options, group } = await this.find(name);
    return this.change(group, options, null, close);
  }

  private async find(name: string): Promise<{ options: PolicyOption[]; group: GroupConfig }> {
    const mapped = await this.current.read([name]);
    const group = mapped.config.groups.find((candidate) => candidate.name === name);
    if (!group) throw groupNotFound(name);
    if (group.type === 'load-balance') {
      throw new AppError('UNPROCESSABLE', `${name} spreads connections over its members: none of them can be chosen.`);
    }
    return { options: await this.options.ofGroup(mapped, group), group };
  }

  private async change(
    group: GroupConfig,
    options: readonly PolicyOption[],
    chosen: SwitchEnd | null,
    close: CloseChoice | undefined,
  ): Promise<GroupSwitchResult> {
    const { name, type } = group;
    const before = await this.using(group);
    this.switches.expect(name, chosen?.tag ?? null);
    await this.unitOfWork.run(async (tx) => {
      const change = { selectedTag: chosen?.tag ?? null, selectedName: chosen?.name ?? null };
      await tx.update(OutboundGroupEntity, { name }, change);
      await notify(tx, KERNEL_CONFIG_CHANNEL, ONLY_SELECTIONS);
    });
    await this.kernel.syncSelections();
    const selected = chosen?.tag ?? undefined;
    const now = await this.using({ name, type, members: group.members, ...(selected !== undefined && { selected }) });
    const names = new Map(options.map(({ tag, name: text }) => [tag, text]));
    const closed = now.tag === before.tag ? 0 : await this.record(name, before, now, names, close);
    return {
      name,
      type,
      now: nameOf(now.tag, names),
      now_proxy: now.tag,
      fixed: now.fixed,
      previous: nameOf(before.tag, names),
      closed_connections: closed,
    };
  }

  /** The member that the kernel uses; while no kernel answers, the one it will use. */
  private async using({ name, members, selected }: GroupConfig): Promise<Using> {
    const groups = await this.kernel.groupsInUse().catch(() => []);
    const state = groups.find((candidate) => candidate.name === name);
    if (state) return { tag: state.now, fixed: state.fixed };
    return { tag: selected ?? members[0] ?? null, fixed: selected !== undefined };
  }

  // oxlint-disable-next-line eslint/max-params -- two ends, their names and what to do about connections
  private async record(
    group: string,
    before: Using,
    now: Using,
    names: ReadonlyMap<string, string>,
    close: CloseChoice | undefined,
  ): Promise<number> {
    const from = before.tag === null ? null : { tag: before.tag, name: nameOf(before.tag, names) ?? before.tag };
    const to = { tag: now.tag, name: nameOf(now.tag, names) ?? 'REJECT' };
    const id = await this.unitOfWork.run((tx) =>
      this.switches.record(tx, { group, at: new Date(), from, to, reason: 'manual' }),
    );
    const closed = await this.closeConnections(group, before.tag, close);
    if (id !== null) await this.switches.setClosed(id, closed);
    return closed;
  }

  private async closeConnections(
    group: string,
    member: string | null,
    close: CloseChoice | undefined,
  ): Promise<number> {
    const choice = close ?? this.preferences.get('switch.close_connections');
    if (choice === 'none' || (choice === 'group' && member === null)) return 0;
    try {
      return await this.kernel.closeConnections(choice === 'all' || member === null ? {} : { group, member });
    } catch (error) {
      // A kernel that is down has no open connections; the choice is stored.
      if (error instanceof AppError && error.code === 'KERNEL_UNAVAILABLE') return 0;
      throw error;
    }
  }
}

function nameOf(tag: string | null, names: ReadonlyMap<string, string>): string | null {
  return tag === null ? null : (names.get(tag) ?? tag);
}
