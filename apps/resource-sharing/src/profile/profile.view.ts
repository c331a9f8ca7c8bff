import { ApiProperty } from '@nestjs/swagger';
import type { Profile } from './profiles.service.js';
import { formatInZone } from './time-in-zone.js';

export class UserMetaView {
  @ApiProperty({ type: 'integer', minimum: 0 })
  points: number;
  @ApiProperty({ type: 'integer', minimum: 0 })
  signin_days_total: number;
  @ApiProperty({ type: 'integer', minimum: 0 })
  share_num: number;
  @ApiProperty({ type: Boolean })
  is_activate: boolean;
  @ApiProperty({ enum: ['none'], description: 'The service sends no notifications' })
  notification_method: 'none';
}

/** A user as clients know it: points are in both places where clients expect them. */
export class ProfileView {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ type: String })
  nickname: string;
  @ApiProperty({ type: String })
  username: string;
  @ApiProperty({ type: String, description: 'Empty if there is none' })
  email: string;
  @ApiProperty({ type: String, description: 'Empty if there is none' })
  avatar_url: string;
  @ApiProperty({ type: Boolean })
  is_vip: boolean;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  vip_expiration_date: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  last_active_at: string | null;
  @ApiProperty({ type: 'integer', minimum: 0 })
  points: number;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 2, description: '0: member, 1: Premium, 2: lifetime Premium' })
  level: number;
  @ApiProperty({ type: UserMetaView })
  user_meta: UserMetaView;
  @ApiProperty({ type: 'null', description: 'Always null; Telegram accounts are not supported' })
  telegram_user: null;
  @ApiProperty({ type: String, format: 'date-time' })
  created_at: string;
}

export function toProfileView(profile: Profile, timeZone: string): ProfileView {
  const { id, nickname, username, premium, points, premiumUntil, lastActiveAt } = profile;
  return {
    id,
    nickname,
    username,
    email: profile.email ?? '',
    avatar_url: profile.avatarUrl ?? '',
    is_vip: premium,
    vip_expiration_date: premiumUntil === null ? null : formatInZone(premiumUntil, timeZone),
    last_active_at: lastActiveAt === null ? null : formatInZone(lastActiveAt, timeZone),
    points,
    level: Number(premium) + Number(profile.forever),
    user_meta: {
      points,
      signin_days_total: profile.checkInDays,
      share_num: profile.shares,
      is_activate: profile.active,
      notification_method: 'none',
    },
    telegram_user: null,
    created_at: formatInZone(profile.createdAt, timeZone),
  };
}
