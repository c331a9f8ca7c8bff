import { Injectable } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';
import { systemEntry } from './audit-log.js';
import { AuditStore } from './audit-store.js';

const DAY_MS = 86_400_000;

/** Forgets rows that are old enough, in a way that the rest of the chain still holds. */
@Injectable()
export class AuditRetention {
  constructor(
    private readonly store: AuditStore,
    private readonly preferences: Preferences,
  ) {}

  /** How many rows went. */
  sweep(now: number): Promise<number> {
    const days = this.preferences.get('audit.retention_days');
    return this.store.prune(new Date(now - days * DAY_MS), (removed) => ({
      ...systemEntry('audit.prune'),
      changes: [{ field: 'removed_rows', before: null, after: removed }],
    }));
  }
}
