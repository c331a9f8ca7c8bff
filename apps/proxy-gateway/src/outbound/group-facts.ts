import type { OutboundGroupView } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { nodeTag } from '../kernel-config/kernel-config.mapper.js';
import type { MappedConfig } from '../kernel-config/kernel-config.mapper.js';
import type { GroupInUse, KernelInUse } from '../common/kernel-ipc.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { unlessDown } from '../kernel-process/kernel-errors.js';
import { Preferences } from '../preferences/preferences.service.js';
import { nodeIdOf } from '../data/flow-names.js';
import { AccountingService } from '../traffic/accounting.service.js';
import { CurrentConfig } from './current-config.js';
import { readGroupRows, type StoredFacts } from './group-rows.js';
import { SAMPLE, toGroupViews } from './outbound.view.js';
import type { MeasuredHealth, MemberWindow, OverviewFacts } from './outbound.view.js';

/** Collects what is known about groups: rows, the applied configuration, the kernel's state, and measurements. */
@Injectable()
export class GroupFacts {
  constructor(
    private readonly dataSource: DataSource,
    private readonly current: CurrentConfig,
    private readonly kernel: KernelService,
    private readonly accounting: AccountingService,
    private readonly preferences: Preferences,
  ) {}

  /** @throws AppError NOT_FOUND */
  async one(name: string, window: MemberWindow, showSecrets: boolean): Promise<OutboundGroupView> {
    const { facts } = await this.read(window, showSecrets);
    const group = toGroupViews(facts).find((view) => view.name === name);
    if (!group) throw groupNotFound(name);
    return group;
  }

  async read(
    window: MemberWindow,
    showSecrets: boolean,
  ): Promise<{ facts: OverviewFacts; config: MappedConfig['config'] }> {
    const { groups: live, usage } = await unlessDown<KernelInUse>(this.kernel.inUse(), { groups: null, usage: {} });
    const { config, stored } = await this.stored((present) => shownNodes(present, live, window));
    const byName = new Map(stored.groups.map((row) => [row.name, row]));
    const groups = config.groups.flatMap((group) => {
      const row = byName.get(group.name);
      return row ? [{ row, config: group }] : [];
    });
    const nodes = new Map(stored.nodes.map((row) => [nodeTag(row.id), row]));
    const waiting = (group: string) => this.accounting.waitingFor(group);
    const measuring = this.measuring();
    const health = healthByUrl(stored.health);
    return { config, facts: { groups, nodes, health, live, usage, waiting, measuring, window, showSecrets } };
  }

  /** The configuration that the kernel applied, unless there are groups now that it lacks. */
  private async stored(
    idsIn: (config: MappedConfig['config']) => number[],
  ): Promise<{ config: MappedConfig['config']; stored: StoredFacts }> {
    const { config: present } = await this.current.read();
    const stored = await readGroupRows(this.dataSource, idsIn(present));
    const names = stored.groups.map(({ name }) => name);
    const known = new Set(present.groups.map(({ name }) => name));
    if (names.every((name) => known.has(name))) return { config: present, stored };
    const { config } = await this.current.read(names);
    return { config, stored: await readGroupRows(this.dataSource, idsIn(config)) };
  }

  private measuring(): OverviewFacts['measuring'] {
    return {
      test_url: this.preferences.get('health.url'),
      expected_status: this.preferences.get('health.expected_status'),
      interval_sec: this.preferences.get('health.interval_sec'),
    };
  }
}

function healthByUrl(rows: StoredFacts['health']): MeasuredHealth {
  const byUrl = Map.groupBy(rows, (row) => row.test_url);
  return new Map([...byUrl].map(([url, measured]) => [url, new Map(measured.map((row) => [row.node_id, row]))]));
}

/** Ids of the nodes that the window shows, that groups use, and that decide whether a group carries UDP. */
function shownNodes(
  { groups, defaultPolicy }: MappedConfig['config'],
  live: readonly GroupInUse[] | null,
  { limit, offset }: MemberWindow,
): number[] {
  const tags = new Set([defaultPolicy, ...(live ?? []).map(({ now }) => now)]);
  for (const { members, selected } of groups) {
    for (const tag of members.slice(offset, offset + limit)) tags.add(tag);
    for (const tag of members.slice(0, SAMPLE)) tags.add(tag);
    if (selected !== undefined) tags.add(selected);
  }
  return [...tags].flatMap((tag) => nodeIdOf(tag) ?? []);
}

export function groupNotFound(name: string): AppError {
  return new AppError('NOT_FOUND', `There is no group ${JSON.stringify(name)}.`);
}
