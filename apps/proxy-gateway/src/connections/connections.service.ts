import type { ConnectionListResponse, ConnectionsClosedResponse } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { KernelService } from '../kernel-host/kernel.service.js';
import { AccountingService } from '../traffic/accounting.service.js';
import { NodeDirectory } from '../traffic/node-directory.js';
import { TrafficTotalsService } from '../traffic/traffic-totals.service.js';
import type { ConnectionQuery } from './connection.dto.js';
import { toConnectionView } from './connection.view.js';
import { sortConnections } from './sort-connections.js';

@Injectable()
export class ConnectionsService {
  constructor(
    private readonly kernel: KernelService,
    private readonly nodes: NodeDirectory,
    private readonly accounting: AccountingService,
    private readonly totals: TrafficTotalsService,
  ) {}

  /** @throws AppError KERNEL_UNAVAILABLE */
  async list({ limit, offset, sort }: ConnectionQuery): Promise<ConnectionListResponse> {
    const [open, status, totals] = await Promise.all([
      this.kernel.connections(),
      this.kernel.status(),
      this.totals.all(),
    ]);
    const page = sortConnections(open, sort).slice(offset, limit === undefined ? undefined : offset + limit);
    const names = await this.nodes.names(page.flatMap((connection) => connection.chain));
    const speed = this.accounting.speed();
    const now = Date.now();
    return {
      upload_total: totals.upload,
      download_total: totals.download,
      upload_speed: speed.upload,
      download_speed: speed.download,
      memory_bytes: status.rssBytes,
      count: open.length,
      connections: page.map((connection) => toConnectionView(connection, names, now)),
      limit: limit ?? null,
      offset,
    };
  }

  /** @throws AppError NOT_FOUND when no such connection is open. */
  async close(id: string): Promise<ConnectionsClosedResponse> {
    if (!(await this.kernel.closeConnection(id))) throw new AppError('NOT_FOUND', 'No such connection is open');
    return { closed: 1 };
  }

  async closeAll(): Promise<ConnectionsClosedResponse> {
    return { closed: await this.kernel.closeConnections() };
  }
}
