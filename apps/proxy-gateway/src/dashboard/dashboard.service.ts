import type { DashboardPage, DashboardResponse, LiveDomain, LiveNode, PeriodNode } from '@gatehouse/contracts';
import type { ConnectionSnapshot, KernelStatus } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { KernelService } from '../kernel-host/kernel.service.js';
import { SERVICE_VERSION } from '../service-version.js';
import { AccountingService } from '../traffic/accounting.service.js';
import { NodeDirectory } from '../traffic/node-directory.js';
import { TrafficTotalsService } from '../traffic/traffic-totals.service.js';
import { pageOf } from './dashboard.dto.js';
import type { DashboardQuery, PageRequest } from './dashboard.dto.js';
import { Inventory } from './inventory.js';
import { liveDomains, liveNodes, nameNodes } from './live-lists.js';
import { lastDay, PeriodLists } from './period-lists.js';
import type { Period } from './period-lists.js';

@Injectable()
export class DashboardService {
  constructor(
    private readonly kernel: KernelService,
    private readonly accounting: AccountingService,
    private readonly totals: TrafficTotalsService,
    private readonly nodes: NodeDirectory,
    private readonly inventory: Inventory,
    private readonly periodLists: PeriodLists,
  ) {}

  /** Answers while the kernel is down too: nothing is live then, and its state says so. */
  async read(query: DashboardQuery): Promise<DashboardResponse> {
    const now = Date.now();
    const period = lastDay(now);
    const [live, traffic, nodes, subscriptions, rules] = await Promise.all([
      this.live(query),
      this.traffic(period),
      this.inventory.nodes(),
      this.inventory.subscriptions(now),
      this.inventory.rules(),
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
      period_domains: await this.periodLists.domains(period, pageOf(query, 'period_domain')),
      period_nodes: await this.periodNodes(period, pageOf(query, 'period_node')),
    };
  }

  private async live(query: DashboardQuery) {
    const [connections, status] = await Promise.all([
      this.kernel.connections().catch((): ConnectionSnapshot[] => []),
      this.kernel.status().catch(() => null),
    ]);
    return {
      active: connections.length,
      kernel: this.describeKernel(status),
      domains: slice<LiveDomain>(liveDomains(connections), pageOf(query, 'live_domain')),
      nodes: await this.liveNodes(connections, pageOf(query, 'live_node')),
    };
  }

  private async liveNodes(
    connections: readonly ConnectionSnapshot[],
    page: PageRequest,
  ): Promise<DashboardPage<LiveNode>> {
    const { items, ...rest } = slice(liveNodes(connections), page);
    const names = await this.nodes.names(items.map((item) => item.tag));
    return { items: nameNodes(items, names), ...rest };
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
    const speed = this.accounting.speed();
    return {
      upload_speed: speed.upload,
      download_speed: speed.download,
      upload_total: upload,
      download_total: download,
      series,
      opened,
      failed,
    };
  }

  private describeKernel(status: KernelStatus | null): DashboardResponse['kernel'] {
    return {
      state: this.kernel.state,
      version: SERVICE_VERSION,
      uptime_sec: status === null ? null : Math.max(0, Math.floor((Date.now() - status.startedAt) / 1_000)),
      memory_bytes: status?.rssBytes ?? null,
    };
  }
}

function slice<T>(all: readonly T[], { limit, offset }: PageRequest): DashboardPage<T> {
  return { items: all.slice(offset, offset + limit), total: all.length, limit, offset };
}
