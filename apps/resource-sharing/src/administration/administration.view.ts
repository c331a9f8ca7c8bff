import { ApiProperty } from '@nestjs/swagger';
import type { Application } from '../applications/application-rows.js';
import { ApplicationView, toApplicationView } from '../applications/applications.view.js';
import type { EndpointSwitch } from '../open-api/endpoint-switches.js';
import type { TransferResult } from '../points/points-ledger.js';
import { endOf, SiteAccountView } from '../site/site-account.view.js';
import type { KnownShare } from './share-administration.js';
import type { KnownUser } from './user-administration.js';

export class ReviewedApplicationView extends ApplicationView {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ type: 'integer' })
  owner_id: number;
}

export class KnownUserView extends SiteAccountView {
  @ApiProperty({ type: 'integer' })
  points: number;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  disabled_at: string | null;
  @ApiProperty({ type: String, format: 'date-time', nullable: true })
  last_active_at: string | null;
  @ApiProperty({ type: Boolean, description: 'Whether logins need a code of an authenticator app' })
  second_factor: boolean;
}

export class GrantedPointsView {
  @ApiProperty({ type: 'integer', description: 'Points of the user afterwards' })
  balance: number;
  @ApiProperty({ type: Boolean, description: 'True if this was done earlier' })
  replayed: boolean;
}

export class KnownShareView {
  @ApiProperty({ type: String })
  slug: string;
  @ApiProperty({ type: String, nullable: true })
  title: string | null;
  @ApiProperty({ type: String })
  pan_type: string;
  @ApiProperty({ type: 'integer' })
  owner_id: number;
  @ApiProperty({ type: String })
  owner: string;
  @ApiProperty({ type: 'integer', nullable: true })
  unlock_points: number | null;
  @ApiProperty({ type: Boolean })
  is_official: boolean;
  @ApiProperty({ type: String, format: 'date-time' })
  created_at: string;
}

export class EndpointSwitchView {
  @ApiProperty({ type: String })
  operation: string;
  @ApiProperty({ type: String })
  reason: string;
  @ApiProperty({ type: String, format: 'date-time' })
  disabled_at: string;
}

export function toReviewedApplicationView(application: Application): ReviewedApplicationView {
  return Object.assign(toApplicationView(application), { id: application.id, owner_id: application.ownerId });
}

export function toKnownUserView(user: KnownUser): KnownUserView {
  return {
    id: user.id,
    username: user.username,
    nickname: user.nickname,
    email: user.email,
    email_verified: user.emailVerifiedAt !== null,
    avatar_url: user.avatarUrl,
    role: user.role,
    premium_until: user.premiumUntil === null ? null : endOf(user.premiumUntil),
    permissions: [...user.permissions],
    created_at: user.createdAt.toISOString(),
    points: user.points,
    disabled_at: user.disabledAt?.toISOString() ?? null,
    last_active_at: user.lastActiveAt?.toISOString() ?? null,
    second_factor: user.hasSecondFactor,
  };
}

export function toGrantedPointsView({ fromBalance, toBalance, replayed }: TransferResult): GrantedPointsView {
  return { balance: toBalance ?? fromBalance ?? 0, replayed };
}

export function toKnownShareView(share: KnownShare): KnownShareView {
  return {
    slug: share.slug,
    title: share.title,
    pan_type: share.kind,
    owner_id: share.ownerId,
    owner: share.owner,
    unlock_points: share.unlockPoints,
    is_official: share.isOfficial,
    created_at: share.createdAt.toISOString(),
  };
}

export function toEndpointSwitchView({ operation, reason, disabledAt }: EndpointSwitch): EndpointSwitchView {
  return { operation, reason, disabled_at: disabledAt.toISOString() };
}
