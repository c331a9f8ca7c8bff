import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { runStatement, type Statement } from '../points/run-statement.js';
import { ResourceSharingSettings } from '../settings.js';

export interface WeeklyFree {
  /** Premium for more than 20 years; only such users have free unlocks. */
  readonly forever: boolean;
  /** Per week; 0 without a limit. */
  readonly limit: number;
  readonly used: number;
  /** -1 without a limit. */
  readonly remaining: number;
  readonly unlimited: boolean;
  readonly bonus: number;
  readonly bonusMax: number;
}

const NONE: WeeklyFree = {
  forever: false,
  limit: 0,
  used: 0,
  remaining: 0,
  unlimited: false,
  bonus: 0,
  bonusMax: 0,
};

const STATE: Statement = {
  name: 'weekly_free_state',
  text: `SELECT w.used, w.bonus FROM site_accounts a CROSS JOIN LATERAL weekly_free_state(a.id, $2, $3, $4) w
    WHERE a.id = $1 AND a.premium_until > now() + interval '20 years'`,
};

/** Unlocks without points. Weeks begin on Mondays at 00:00 in the service's time zone, by the clock of the database. */
@Injectable()
export class WeeklyFreeUnlocks {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: ResourceSharingSettings,
  ) {}

  async of(userId: number): Promise<WeeklyFree> {
    const { timeZone, weeklyFreeLimit: limit, weeklyFreeBonusMax: bonusMax } = this.settings;
    const values = [userId, timeZone, limit, bonusMax];
    const [row] = await runStatement<{ used: number; bonus: number }>(this.dataSource, undefined, STATE, values);
    if (row === undefined) return NONE;
    const { used, bonus } = row;
    if (limit === 0) return { ...NONE, forever: true, used, remaining: -1, unlimited: true };
    const remaining = Math.max(0, limit - used) + bonus;
    return { forever: true, limit, used, remaining, unlimited: false, bonus, bonusMax };
  }
}
