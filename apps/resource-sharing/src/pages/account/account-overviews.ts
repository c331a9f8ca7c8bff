import { Injectable } from '@nestjs/common';
import { AuditTrail, type AuditEntry } from '../../audit/audit-trail.js';
import { Notices, type Notice } from '../../notices/notices.service.js';
import { PointsLedger } from '../../points/points-ledger.js';
import { SiteSessions, type SiteSession } from '../../site/site-sessions.js';

export interface AccountOverview {
  readonly points: number;
  readonly sessions: readonly SiteSession[];
  readonly events: readonly AuditEntry[];
  readonly unread: readonly Notice[];
}

const LINES = 20;
const NOTICES = 5;

/** Collects the content of an account page. */
@Injectable()
export class AccountOverviews {
  constructor(
    private readonly ledger: PointsLedger,
    private readonly sessions: SiteSessions,
    private readonly trail: AuditTrail,
    private readonly notices: Notices,
  ) {}

  async of(userId: number): Promise<AccountOverview> {
    const [points, sessions, events, unread] = await Promise.all([
      this.ledger.balance(userId),
      this.sessions.list(userId),
      this.trail.list({ userId, limit: LINES }),
      this.notices.list(userId, { unreadOnly: true, limit: NOTICES }),
    ]);
    return { points, sessions, events, unread: unread.notices };
  }
}
