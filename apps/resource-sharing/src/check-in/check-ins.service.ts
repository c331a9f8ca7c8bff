import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { explainingRefusals } from '../points/points-ledger.js';
import { runStatement, type Statement } from '../points/run-statement.js';
import { ResourceSharingSettings } from '../settings.js';
import { draw, type CheckInMode } from './draw.js';

export interface CheckIn {
  /** False: it had been done today. */
  readonly checkedIn: boolean;
  /** Won or, below 0, lost just now. */
  readonly points: number;
  readonly balance: number;
  /** Days in a row, this one included. */
  readonly streak: number;
  /** Doubled for Premium. */
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

/** The daily check-in; days begin at 00:00 in the service's time zone, by the clock of the database. */
@Injectable()
export class CheckIns {
  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: ResourceSharingSettings,
  ) {}

  /**
   * The first of a day wins or loses points, every later one changes nothing. Premium doubles what is won; without points
   * a loss is won instead; no loss exceeds the balance.
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
    return { checkedIn, ...rest };
  }
}
