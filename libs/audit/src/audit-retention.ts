import { Injectable } from '@nestjs/common';
import { AuditOptions } from './audit-options.js';
import { systemEntry } from './chain/audit-entry.js';
import { AuditStore } from './chain/audit-store.js';

const DAY_MS = 86_400_000;

/** Deletes old rows in such a way that the rest of the chain stays verifiable. */
@Injectable()
export class AuditRetention {
  constructor(
    private readonly store: AuditStore,
    private readonly options: AuditOptions,
  ) {}

  /** Number of deleted rows. */
  sweep(now: number): Promise<number> {
    return this.store.prune(new Date(now - this.options.retentionDays() * DAY_MS), (removed) => ({
      ...systemEntry('audit.prune'),
      changes: [{ field: 'removed_rows', before: null, after: removed }],
    }));
  }
}
