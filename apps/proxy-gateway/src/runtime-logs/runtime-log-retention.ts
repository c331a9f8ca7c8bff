import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Preferences } from '../preferences/preferences.service.js';

const DAY_MS = 86_400_000;

/** Deletes old lines, and the oldest ones beyond the limit. */
@Injectable()
export class RuntimeLogRetention {
  constructor(
    private readonly dataSource: DataSource,
    private readonly preferences: Preferences,
  ) {}

  /** Returns the number of deleted rows. */
  async sweep(now: number): Promise<number> {
    const before = new Date(now - this.preferences.get('runtime_log.retention_days') * DAY_MS);
    const [, old]: [unknown, number] = await this.dataSource.query('DELETE FROM runtime_logs WHERE time < $1', [
      before,
    ]);
    const [, surplus]: [unknown, number] = await this.dataSource.query(
      'DELETE FROM runtime_logs WHERE id <= (SELECT id FROM runtime_logs ORDER BY id DESC LIMIT 1 OFFSET $1)',
      [this.preferences.get('runtime_log.max_rows')],
    );
    return old + surplus;
  }
}
