import type { Actor } from '@gatehouse/auth';
import type { DashboardTotals } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { seesAll, OwnedRows } from '../data/owned-rows.js';
import { User } from '../data/user.entity.js';
import type { Presence } from './presence.js';

const ALL = 'count(*)';
const ENABLED = 'count(*) FILTER (WHERE row.status = 1)';
const withRunStatus = (status: number): string => `count(*) FILTER (WHERE row.run_status = ${status})`;

/** Numbers of resources, and their total traffic. */
@Injectable()
export class Totals {
  constructor(private readonly owned: OwnedRows) {}

  async of(actor: Actor, { agents }: Presence): Promise<DashboardTotals> {
    const { owned } = this;
    const clients = await owned.clients(actor).figures({ total: ALL, enabled: ENABLED });
    const tunnels = await owned.tunnels(actor).figures({
      total: ALL,
      running: withRunStatus(1),
      waiting: withRunStatus(2),
      failed: withRunStatus(3),
      stopped: withRunStatus(0),
    });
    const hosts = await owned.hosts(actor).figures({ total: ALL, enabled: ENABLED });
    const users = seesAll(actor) ? await owned.options.count(User) : null;
    return { users, clients: { ...clients, online: agents }, tunnels, hosts, ...(await this.carried(actor)) };
  }

  private async carried(actor: Actor): Promise<{ inlet_bytes: number; export_bytes: number }> {
    const kind = seesAll(actor) ? 'global' : 'user';
    return this.owned
      .flowStats(actor)
      .figures(
        { inlet_bytes: 'coalesce(sum(row.inlet_bytes), 0)', export_bytes: 'coalesce(sum(row.export_bytes), 0)' },
        [{ sql: 'row.resource_type = :kind', parameters: { kind } }],
      );
  }
}
