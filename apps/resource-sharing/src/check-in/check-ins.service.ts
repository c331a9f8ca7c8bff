import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { PointMetrics } from '../points/point-metrics.js';
import { explainingRefusals } from '../points/points-ledger.js';
import { runStatement, type Statement } from '../points/run-statement.js';
import { ResourceSharingSettings } from '../settings.js';
import { draw, type CheckInMode } from './draw.js';

export interface CheckIn {
  /** False if the user has already checked in today. */
  readonly checkedIn: boolean;
  /** Points won or, below 0, lost by this call. */
  readonly points: number;
  readonly balance: number;
  /** Consecutive days with a check-in, including this one. */
  readonly streak: number;
  /** Doubled because of Premium. */
  readonly doubled: boolean;
}

interface CheckInRow {
  checked_in: boolean;
  points: number;
  balance: number;
  streak: number;
  doubled: boolean;
}

const CHECK_IN: Statement = { name: 'check_in', text: 'SELECT * FROM check_in($1, $2, $3, $4, $5)' };

/** An earlier check-in. */
export interface PastCheckIn {
  /** YYYY-MM-DD in the service's time zone. */
  readonly day: string;
  readonly mode: CheckInMode;
  readonly points: number;
  /** Consecutive days with a check-in up to it. */
  readonly streak: number;
}

export interface CheckInState {
  readonly today: PastCheckIn | null;
  /** Consecutive days with a check-in up to today, or up to yesterday while today's is still to come. */
  readonly streak: number;
}

const LATEST: Statement = {
  name: 'check_in_state',
  text: `SELECT to_char(c.day, 'YYYY-MM-DD') AS day, c.mode, c.points, c.streak, c.day = today.day AS is_today
    FROM check_ins c, (SELECT (now() AT TIME ZONE $2)::date AS day) today
    WHERE c.user_id = $1 AND c.day >= today.day - 1 ORDER BY c.day DESC LIMIT 1`,
};

/** The daily check-in; days begin at 00:00 in the service's time zone, by the clock of the database. */
@Injectable()
export class CheckIns {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: ResourceSharingSettings,
    private readonly metrics: PointMetrics,
  ) {}

  /**
   * The first check-in of a day wins or loses points; later ones change nothing. Premium doubles a win. Without points
   * a loss becomes a win; no loss exceeds the balance.
   */
  async checkIn(
    { userId, isPremium }: { readonly userId: number; readonly isPremium: boolean },
    mode: CheckInMode,
    tx?: EntityManager,
  ): Promise<CheckIn> {
    const values = [userId, mode === 'gambler', draw(mode), isPremium, this.settings.timeZone];
    const [row] = await explainingRefusals(runStatement<CheckInRow>(this.dataSource, tx, CHECK_IN, values));
    if (row === undefined) throw new Error('a check-in answered nothing');
    const { checked_in: checkedIn, ...rest } = row;
    if (checkedIn) this.metrics.moved('check_in', Math.abs(rest.points));
    return { checkedIn, ...rest };
  }

  /** Whether a user has checked in today, and for how many consecutive days. */
  async stateOf(userId: number): Promise<CheckInState> {
    const values = [userId, this.settings.timeZone];
    const [row] = await runStatement<PastCheckIn & { is_today: boolean }>(this.dataSource, undefined, LATEST, values);
    if (row === undefined) return { today: null, streak: 0 };
    const { is_today: isToday, ...checkIn } = row;
    return { today: isToday ? checkIn : null, streak: checkIn.streak };
  }
}
