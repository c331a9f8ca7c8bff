import { Injectable } from '@nestjs/common';
import { AuditOptions } from './audit-options.js';
import { systemEntry } from './chain/audit-entry.js';
import { AuditStore } from './chain/audit-store.js';

const DAY_MS = 86_400_000;

/** Forgets rows that are old enough, in a way that the rest of the chain still holds. */
@Injectable()
export class AuditRetention {
  constructor(
    private readonly store: AuditStore,
    private readonly options: AuditOptions,
  ) {}

  /** How many rows went. */
  sweep(now: number): Promise<number> {
    return this.store.prune(new Date(now - this.options.retentionDays() * DAY_MS), (removed) => ({
      ...systemEntry('audit.prune'),
      changes: [{ field: 'removed_rows', before: null, after: removed }],
    }));
  }
}
