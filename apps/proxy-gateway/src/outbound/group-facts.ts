import type { OutboundGroupView } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { nodeTag } from '../kernel-config/kernel-config.mapper.js';
import type { MappedConfig } from '../kernel-config/kernel-config.mapper.js';
import type { GroupInUse } from '../common/kernel-ipc.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { unlessDown } from '../kernel-process/kernel-errors.js';
import { Preferences } from '../preferences/preferences.service.js';
import { nodeIdOf } from '../data/flow-names.js';
import { AccountingService } from '../traffic/accounting.service.js';
import { CurrentConfig } from './current-config.js';
import { OutboundGroupEntity } from '../data/outbound-group.entity.js';
import { SAMPLE, toGroupViews } from './outbound.view.js';
import type { MeasuredHealth, MemberWindow, NodeCardRow, OverviewFacts } from './outbound.view.js';

const SELECT_NODES = `
  SELECT node.id, coalesce(node.custom_name, node.original_name) AS name, node.type, node.country, node.udp,
    (SELECT subscription.name FROM node_sources source JOIN subscriptions subscription
       ON subscription.id = source.subscription_id
       WHERE source.node_id = node.id ORDER BY source.subscription_id LIMIT 1) AS subscription_name
  FROM nodes node WHERE node.id = ANY ($1::bigint[])`;
const SELECT_HEALTH =
  'SELECT node_id, test_url, alive, delay_ms FROM node_health WHERE test_url = ANY ($1) AND node_id = ANY ($2::bigint[])';

interface HealthRow {
  node_id: number;
  test_url: string;
  alive: boolean;
  delay_ms: number | null;
}

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
    const rows = await this.dataSource.getRepository(OutboundGroupEntity).find();
    const [{ config }, live, usage] = await Promise.all([
      this.current.read(rows.map(({ name }) => name)),
      unlessDown(this.kernel.groupsInUse(), null),
      unlessDown(this.kernel.usage(), {}),
    ]);
    const byName = new Map(rows.map((row) => [row.name, row]));
    const groups = config.groups.flatMap((group) => {
      const row = byName.get(group.name);
      return row ? [{ row, config: group }] : [];
    });
    const ids = shownNodes(config, live, window);
    const [nodes, health] = await Promise.all([this.nodes(ids), this.health(rows, ids)]);
    const waiting = (group: string) => this.accounting.waitingFor(group);
    const measuring = this.measuring();
    return { config, facts: { groups, nodes, health, live, usage, waiting, measuring, window, showSecrets } };
  }

  private measuring(): OverviewFacts['measuring'] {
    return {
      test_url: this.preferences.get('health.url'),
      expected_status: this.preferences.get('health.expected_status'),
      interval_sec: this.preferences.get('health.interval_sec'),
    };
  }

  private async nodes(ids: readonly number[]): Promise<ReadonlyMap<string, NodeCardRow>> {
    const rows: NodeCardRow[] = await this.dataSource.query(SELECT_NODES, [ids]);
    return new Map(rows.map((row) => [nodeTag(row.id), row]));
  }

  private async health(groups: readonly OutboundGroupEntity[], ids: readonly number[]): Promise<MeasuredHealth> {
    const urls = [...new Set(['', ...groups.map(({ testUrl }) => testUrl ?? '')])];
    const rows: HealthRow[] = await this.dataSource.query(SELECT_HEALTH, [urls, ids]);
    const byUrl = new Map<string, Map<number, HealthRow>>(urls.map((url) => [url, new Map()]));
    for (const row of rows) byUrl.get(row.test_url)?.set(row.node_id, row);
    return byUrl;
  }
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
