import type {
  DashboardPage,
  DashboardResponse,
  DashboardTraffic,
  LiveDomain,
  LiveNode,
  LiveUser,
} from '@gatehouse/contracts';
import type { ConnectionSnapshot, KernelStatus } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import type { OnModuleInit } from '@nestjs/common';
import { KernelService } from '../kernel-process/kernel.service.js';
import { unlessDown } from '../kernel-process/kernel-errors.js';
import { SERVICE_VERSION } from '../service-version.js';
import { AccountingService } from '../traffic/accounting.service.js';
import { NodeDirectory } from '../traffic/node-directory.js';
import { pageOf } from './dashboard.dto.js';
import type { DashboardQuery, PageRequest } from './dashboard.dto.js';
import { liveDomains, liveNodes, liveUsers, nameNodes } from './live-lists.js';
import { TrafficHistory } from './traffic-history.js';

export interface LiveState {
  active: number;
  kernel: DashboardResponse['kernel'];
  domains: DashboardPage<LiveDomain>;
  nodes: DashboardPage<LiveNode>;
  users: DashboardPage<LiveUser>;
}

/** The traffic that the kernel carries at the moment. */
@Injectable()
export class LiveTraffic implements OnModuleInit {
  private readonly history = new TrafficHistory();

  constructor(
    private readonly kernel: KernelService,
    private readonly accounting: AccountingService,
    private readonly nodes: NodeDirectory,
  ) {}

  onModuleInit(): void {
    this.kernel.onTraffic((delta) => this.history.add(delta));
  }

  /** Does not reject when the kernel is down: the lists are then empty, and `state` says why. */
  async read(query: DashboardQuery): Promise<LiveState> {
    const [connections, status] = await Promise.all([
      unlessDown<ConnectionSnapshot[]>(this.kernel.connections(), []),
      unlessDown<KernelStatus | null>(this.kernel.status(), null),
    ]);
    return {
      active: connections.length,
      kernel: this.describeKernel(status),
      domains: slice(liveDomains(connections), pageOf(query, 'live_domain')),
      users: slice(liveUsers(connections), pageOf(query, 'live_user')),
      nodes: await this.nodesOf(connections, pageOf(query, 'live_node')),
    };
  }

  /** Bytes per second over the last second. */
  speed(): { upload: number; download: number } {
    return this.accounting.speed();
  }

  /** The points for charts, finer than the hours in the database. */
  recent(): Pick<DashboardTraffic, 'minutes' | 'seconds'> {
    const now = Date.now();
    return { minutes: this.history.series(now, 60, 60), seconds: this.history.series(now, 1, 60) };
  }

  /** Enabled nodes that the kernel cannot dial. */
  unsupported(): number {
    return this.kernel.applied?.leftOut.length ?? 0;
  }

  private async nodesOf(
    connections: readonly ConnectionSnapshot[],
    page: PageRequest,
  ): Promise<DashboardPage<LiveNode>> {
    const { items, ...rest } = slice(liveNodes(connections), page);
    const names = await this.nodes.names(items.map((item) => item.tag));
    return { items: nameNodes(items, names), ...rest };
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
