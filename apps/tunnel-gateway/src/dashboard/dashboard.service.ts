import type { Actor } from '@gatehouse/auth';
import type { TunnelDashboard } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';
import { Attention } from './attention.js';
import { CarriedTraffic } from './carried-traffic.js';
import { LiveTraffic } from './live-traffic.js';
import { PresenceReader } from './presence.js';
import { Totals } from './totals.js';

/** An overview of what an actor may see. */
@Injectable()
export class DashboardService {
  constructor(
    private readonly presence: PresenceReader,
    private readonly totals: Totals,
    private readonly live: LiveTraffic,
    private readonly carried: CarriedTraffic,
    private readonly attention: Attention,
  ) {}

  /** Queries run one after the other, so that an open dashboard uses one connection and not all. */
  async of(actor: Actor): Promise<TunnelDashboard> {
    const now = Date.now();
    const presence = await this.presence.of(actor);
    return {
      totals: await this.totals.of(actor, presence),
      live: await this.live.of(actor, presence, now),
      top_tunnels: await this.carried.tunnels(actor, now),
      top_hosts: await this.carried.hosts(actor, now),
      top_visitors: await this.carried.visitors(actor),
      series: await this.carried.byTime(actor, now),
      recent_events: await this.attention.recentEvents(actor),
      warnings: await this.attention.warnings(actor, presence),
      generated_at: new Date(now).toISOString(),
    };
  }
}
