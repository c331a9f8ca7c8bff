import type { DashboardPage, DashboardResponse, PeriodNode } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { NodeDirectory } from '../traffic/node-directory.js';
import { TrafficTotalsService } from '../traffic/traffic-totals.service.js';
import { pageOf } from './dashboard.dto.js';
import type { DashboardQuery, PageRequest } from './dashboard.dto.js';
import { Inventory } from './inventory.js';
import { nameNodes } from './live-lists.js';
import { LiveTraffic } from './live-traffic.js';
import { PeriodLists, periodOf } from './period-lists.js';
import type { Period } from './period-lists.js';

@Injectable()
export class DashboardService {
  constructor(
    private readonly liveTraffic: LiveTraffic,
    private readonly totals: TrafficTotalsService,
    private readonly nodes: NodeDirectory,
    private readonly inventory: Inventory,
    private readonly periodLists: PeriodLists,
  ) {}

  /** Also answers while the kernel is down: the live lists are then empty, and `state` says why. */
  async read(query: DashboardQuery): Promise<DashboardResponse> {
    const now = Date.now();
    const period = periodOf(query, now);
    const [live, traffic, nodes, subscriptions, rules, periodDomains, periodNodes, periodUsers] = await Promise.all([
      this.liveTraffic.read(query),
      this.traffic(period),
      this.inventory.nodes(this.liveTraffic.unsupported()),
      this.inventory.subscriptions(now),
      this.inventory.rules(),
      this.periodLists.domains(period, pageOf(query, 'period_domain')),
      this.periodNodes(period, pageOf(query, 'period_node')),
      this.periodLists.users(period, pageOf(query, 'period_user')),
    ]);
    const { opened, failed, ...bytes } = traffic;
    return {
      generated_at: new Date(now).toISOString(),
      traffic: bytes,
      connections: { active: live.active, opened_total: opened, failed_total: failed },
      nodes,
      subscriptions,
      rules,
      kernel: live.kernel,
      live_domains: live.domains,
      live_nodes: live.nodes,
      period: { from: period.from.toISOString(), to: period.to.toISOString() },
      period_domains: periodDomains,
      period_nodes: periodNodes,
      live_users: live.users,
      period_users: periodUsers,
    };
  }

  private async periodNodes(period: Period, page: PageRequest): Promise<DashboardPage<PeriodNode>> {
    const { items, ...rest } = await this.periodLists.nodes(period, page);
    const names = await this.nodes.names(items.map((item) => item.tag));
    const rates = items.map((item) => ({
      ...item,
      success_rate: item.requests === 0 ? null : Math.max(0, item.requests - item.errors) / item.requests,
      avg_delay_ms: names.node(item.tag)?.delayMs ?? null,
    }));
    return { items: nameNodes(rates, names), ...rest };
  }

  private async traffic(period: Period) {
    const [{ upload, download, opened, failed }, series] = await Promise.all([
      this.totals.all(),
      this.periodLists.series(period),
    ]);
    const speed = this.liveTraffic.speed();
    return {
      upload_speed: speed.upload,
      download_speed: speed.download,
      upload_total: upload,
      download_total: download,
      series,
      ...this.liveTraffic.recent(),
      opened,
      failed,
    };
  }
}
