import type { OutboundGroupView } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { mapKernelConfig, nodeTag } from '../kernel-host/kernel-config.mapper.js';
import type { MappedConfig } from '../kernel-host/kernel-config.mapper.js';
import { KernelConfigSource } from '../kernel-host/kernel-config.source.js';
import { KernelService } from '../kernel-host/kernel.service.js';
import { Preferences } from '../preferences/preferences.service.js';
import { GroupTraffic } from './group-traffic.js';
import { OutboundGroupEntity } from './outbound-group.entity.js';
import { toGroupViews } from './outbound.view.js';
import type { MeasuredHealth, MemberWindow, NodeCardRow, OverviewFacts } from './outbound.view.js';

const SELECT_NODES = `
  SELECT id, coalesce(custom_name, original_name) AS name, type, country, udp FROM nodes WHERE enabled`;
const SELECT_HEALTH = 'SELECT node_id, test_url, alive, delay_ms FROM node_health WHERE test_url = ANY ($1)';

interface HealthRow {
  node_id: number;
  test_url: string;
  alive: boolean;
  delay_ms: number | null;
}

/** Brings together what is known of groups: rows, what the kernel was told, what it does, what was measured. */
@Injectable()
export class GroupFacts {
  constructor(
    private readonly dataSource: DataSource,
    private readonly source: KernelConfigSource,
    private readonly kernel: KernelService,
    private readonly traffic: GroupTraffic,
    private readonly preferences: Preferences,
  ) {}

  /** @throws AppError NOT_FOUND */
  async one(name: string, window: MemberWindow): Promise<OutboundGroupView> {
    const { facts } = await this.read(window);
    const group = toGroupViews(facts).find((view) => view.name === name);
    if (!group) throw groupNotFound(name);
    return group;
  }

  async read(window: MemberWindow): Promise<{ facts: OverviewFacts; config: MappedConfig['config'] }> {
    const rows = await this.dataSource.getRepository(OutboundGroupEntity).find();
    const [{ config }, nodes, health, live, usage] = await Promise.all([
      this.mapped(rows),
      this.nodes(),
      this.health(rows),
      unlessDown(this.kernel.groups(), null),
      unlessDown(this.kernel.usage(), {}),
    ]);
    const byName = new Map(rows.map((row) => [row.name, row]));
    const groups = config.groups.flatMap((group) => {
      const row = byName.get(group.name);
      return row ? [{ row, config: group }] : [];
    });
    const waiting = (group: string) => this.traffic.waiting(group);
    return { config, facts: { groups, nodes, health, live, usage, waiting, measuring: this.measuring(), window } };
  }

  /** What the kernel was told is what the database says, unless it could not be told: then the rows are read anew. */
  private async mapped(rows: readonly OutboundGroupEntity[]): Promise<MappedConfig> {
    const { applied } = this.kernel;
    const known = new Set(applied?.config.groups.map(({ name }) => name));
    if (applied && rows.length === known.size && rows.every(({ name }) => known.has(name))) return applied;
    return mapKernelConfig(await this.source.load());
  }

  private measuring(): OverviewFacts['measuring'] {
    return {
      test_url: this.preferences.get('health.url'),
      expected_status: this.preferences.get('health.expected_status'),
      interval_sec: this.preferences.get('health.interval_sec'),
    };
  }

  private async nodes(): Promise<ReadonlyMap<string, NodeCardRow>> {
    const rows: NodeCardRow[] = await this.dataSource.query(SELECT_NODES);
    return new Map(rows.map((row) => [nodeTag(row.id), row]));
  }

  private async health(groups: readonly OutboundGroupEntity[]): Promise<MeasuredHealth> {
    const urls = [...new Set(['', ...groups.map(({ testUrl }) => testUrl ?? '')])];
    const rows: HealthRow[] = await this.dataSource.query(SELECT_HEALTH, [urls]);
    const byUrl = new Map<string, Map<number, HealthRow>>(urls.map((url) => [url, new Map()]));
    for (const row of rows) byUrl.get(row.test_url)?.set(row.node_id, row);
    return byUrl;
  }
}

export function groupNotFound(name: string): AppError {
  return new AppError('NOT_FOUND', `There is no group ${JSON.stringify(name)}.`);
}

async function unlessDown<T>(answer: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof AppError && error.code === 'KERNEL_UNAVAILABLE') return otherwise;
    throw error;
  }
}
