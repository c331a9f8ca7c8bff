import { Injectable } from '@nestjs/common';
import { AuditTrail, type AuditEntry } from '../../audit/audit-trail.js';
import { PointsLedger } from '../../points/points-ledger.js';
import { SiteSessions, type SiteSession } from '../../site/site-sessions.js';

export interface AccountOverview {
  readonly points: number;
  readonly sessions: readonly SiteSession[];
  readonly events: readonly AuditEntry[];
}

const LINES = 20;

/** Gathers what an account page shows. */
@Injectable()
export class AccountOverviews {
  constructor(
    private readonly ledger: PointsLedger,
    private readonly sessions: SiteSessions,
    private readonly trail: AuditTrail,
  ) {}

  async of(userId: number): Promise<AccountOverview> {
    const [points, sessions, events] = await Promise.all([
      this.ledger.balance(userId),
      this.sessions.list(userId),
      this.trail.list({ userId, limit: LINES }),
    ]);
    return { points, sessions, events };
  }
}
