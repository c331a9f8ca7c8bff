import { ApiProperty } from '@nestjs/swagger';
import type { QuotaProfile } from '../quota/quota-profiles.js';
import type { RiskEvent, RiskState } from '../risk/risk-states.service.js';
import type { QuotaProfileBody } from './limits.dto.js';

const LIMIT = { type: 'integer', nullable: true, description: 'null: any number' } as const;
const LIMITS = { type: 'object', additionalProperties: { type: 'integer' } } as const;

export class QuotaProfileView {
  @ApiProperty({ type: String })
  name: string;
  @ApiProperty(LIMIT)
  app_per_minute: number | null;
  @ApiProperty(LIMIT)
  app_burst_per_second: number | null;
  @ApiProperty(LIMIT)
  app_address_per_minute: number | null;
  @ApiProperty(LIMIT)
  user_per_minute: number | null;
  @ApiProperty(LIMIT)
  app_per_day: number | null;
  @ApiProperty(LIMIT)
  user_per_day: number | null;
  @ApiProperty(LIMIT)
  addresses_per_day: number | null;
  @ApiProperty(LIMITS)
  group_per_minute: object;
  @ApiProperty(LIMITS)
  endpoint_per_day: object;
}

export class RiskStateView {
  @ApiProperty({ type: 'integer' })
  user_id: number;
  @ApiProperty({ type: 'integer', minimum: 0, maximum: 3 })
  tier: number;
  @ApiProperty({ type: String, format: 'date-time' })
  changed_at: string;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Unlocks are refused until then' })
  paused_until: string | null;
  @ApiProperty({ type: Boolean })
  needs_review: boolean;
}

export class RiskEventView {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ type: String })
  kind: string;
  @ApiProperty({ type: 'integer' })
  tier: number;
  @ApiProperty({ type: 'integer', nullable: true })
  application_id: number | null;
  @ApiProperty({ type: 'object', additionalProperties: true })
  details: object;
  @ApiProperty({ type: String, format: 'date-time' })
  created_at: string;
}

export class UserRiskView extends RiskStateView {
  @ApiProperty({ type: [RiskEventView] })
  events: RiskEventView[];
}

export function toQuotaProfile(name: string, body: QuotaProfileBody): QuotaProfile {
  return {
    name,
    appPerMinute: body.app_per_minute ?? null,
    appBurstPerSecond: body.app_burst_per_second ?? null,
    appAddressPerMinute: body.app_address_per_minute ?? null,
    userPerMinute: body.user_per_minute ?? null,
    appPerDay: body.app_per_day ?? null,
    userPerDay: body.user_per_day ?? null,
    addressesPerDay: body.addresses_per_day ?? null,
    groupPerMinute: body.group_per_minute ?? {},
    endpointPerDay: body.endpoint_per_day ?? {},
  };
}

export function toQuotaProfileView(profile: QuotaProfile): QuotaProfileView {
  return {
    name: profile.name,
    app_per_minute: profile.appPerMinute,
    app_burst_per_second: profile.appBurstPerSecond,
    app_address_per_minute: profile.appAddressPerMinute,
    user_per_minute: profile.userPerMinute,
    app_per_day: profile.appPerDay,
    user_per_day: profile.userPerDay,
    addresses_per_day: profile.addressesPerDay,
    group_per_minute: profile.groupPerMinute,
    endpoint_per_day: profile.endpointPerDay,
  };
}

export function toRiskStateView(state: RiskState): RiskStateView {
  return {
    user_id: state.userId,
    tier: state.tier,
    changed_at: state.changedAt.toISOString(),
    paused_until: state.pausedUntil?.toISOString() ?? null,
    needs_review: state.needsReview,
  };
}

export function toUserRiskView(state: RiskState, events: readonly RiskEvent[]): UserRiskView {
  const views = events.map(({ applicationId, at, ...event }) => ({
    ...event,
    application_id: applicationId,
    created_at: at.toISOString(),
  }));
  return Object.assign(toRiskStateView(state), { events: views });
}
