import { ApiProperty } from '@nestjs/swagger';
import type { WeeklyFree } from './weekly-free.service.js';

export class WeeklyFreeView {
  @ApiProperty({ type: Boolean })
  is_forever_vip: boolean;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Free unlocks per week; 0 if there is no limit' })
  limit: number;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Used this week; official shares do not count' })
  used: number;
  @ApiProperty({
    type: 'integer',
    minimum: -1,
    description: 'Free unlocks left this week, bonus included; -1 if there is no limit',
  })
  remaining: number;
  @ApiProperty({ type: Boolean })
  unlimited: boolean;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Unused free unlocks of earlier weeks; updated on Mondays' })
  bonus_quota: number;
  @ApiProperty({ type: 'integer', minimum: 0 })
  bonus_quota_max: number;
}

export function toWeeklyFreeView(state: WeeklyFree): WeeklyFreeView {
  const { forever, limit, used, remaining, unlimited, bonus, bonusMax } = state;
  return {
    is_forever_vip: forever,
    limit,
    used,
    remaining,
    unlimited,
    bonus_quota: bonus,
    bonus_quota_max: bonusMax,
  };
}

/** The same state under the names of a summary of all that Premium gives. */
export class EntitlementsView {
  @ApiProperty({ type: Boolean, description: 'Premium for more than 20 years; only such users have free unlocks' })
  is_forever_vip: boolean;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Free unlocks per week; 0 if there is no limit or none' })
  weekly_free_quota: number;
  @ApiProperty({
    type: 'integer',
    minimum: -1,
    description: 'Free unlocks left this week, bonus included; -1 if there is no limit',
  })
  weekly_free_quota_remaining: number;
  @ApiProperty({ type: Boolean })
  weekly_free_quota_unlimited: boolean;
  @ApiProperty({ type: 'integer', minimum: 0, description: 'Unused free unlocks of earlier weeks' })
  bonus_quota: number;
}

export function toEntitlementsView({ forever, limit, remaining, unlimited, bonus }: WeeklyFree): EntitlementsView {
  return {
    is_forever_vip: forever,
    weekly_free_quota: limit,
    weekly_free_quota_remaining: remaining,
    weekly_free_quota_unlimited: unlimited,
    bonus_quota: bonus,
  };
}
