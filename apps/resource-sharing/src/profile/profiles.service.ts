import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { runStatement, type Statement } from '../points/run-statement.js';

export interface Profile {
  readonly id: number;
  readonly nickname: string;
  readonly username: string;
  readonly email: string | null;
  readonly avatarUrl: string | null;
  readonly premiumUntil: Date | null;
  readonly premium: boolean;
  readonly forever: boolean;
  readonly active: boolean;
  readonly lastActiveAt: Date | null;
  readonly createdAt: Date;
  readonly points: number;
  readonly checkInDays: number;
  readonly shares: number;
}

interface ProfileRow {
  id: number;
  nickname: string;
  username: string;
  email: string | null;
  avatar_url: string | null;
  premium_until: Date | null;
  premium: boolean;
  forever: boolean;
  active: boolean;
  last_active_at: Date | null;
  created_at: Date;
  points: number;
  check_in_days: number;
  shares: number;
}

const PROFILE: Statement = {
  name: 'profile',
  text: `SELECT a.id, a.nickname, a.username, a.email, a.avatar_url, a.premium_until, a.created_at,
      coalesce(a.premium_until > now(), false) AS premium,
      coalesce(a.premium_until > now() + interval '20 years', false) AS forever,
      a.disabled_at IS NULL AS active,
      greatest((SELECT max(last_used_at) FROM credentials WHERE user_id = a.id),
        (SELECT max(created_at) FROM sessions WHERE user_id = a.id),
        (SELECT created_at FROM check_ins WHERE user_id = a.id ORDER BY day DESC LIMIT 1), a.created_at) AS last_active_at,
      coalesce((SELECT balance FROM ledger_accounts WHERE user_id = a.id), 0) AS points,
      (SELECT count(*) FROM check_ins WHERE user_id = a.id) AS check_in_days,
      (SELECT count(*) FROM shares WHERE owner_id = a.id AND deleted_at IS NULL) AS shares
    FROM site_accounts a WHERE a.id = $1`,
};

/** Users as they see themselves. */
@Injectable()
export class Profiles {
  constructor(private readonly dataSource: DataSource) {}

  /** @throws NOT_FOUND for a deleted account. */
  async of(userId: number): Promise<Profile> {
    const [row] = await runStatement<ProfileRow>(this.dataSource, undefined, PROFILE, [userId]);
    if (row === undefined) throw new AppError('NOT_FOUND', 'The account does not exist');
    const { id, nickname, username, email, premium, forever, active, points, shares } = row;
    return {
      id,
      nickname,
      username,
      email,
      premium,
      forever,
      active,
      points,
      shares,
      avatarUrl: row.avatar_url,
      premiumUntil: row.premium_until,
      lastActiveAt: row.last_active_at,
      createdAt: row.created_at,
      checkInDays: row.check_in_days,
    };
  }
}
