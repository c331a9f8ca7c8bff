import { ApiProperty } from '@nestjs/swagger';
import type { SiteAccount, SiteRole } from './site-account.entity.js';
import type { SiteSession } from './site-sessions.js';

/** An account as its owner sees it. */
export class SiteAccountView {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ type: String })
  username: string;
  @ApiProperty({ type: String })
  nickname: string;
  @ApiProperty({ type: String, nullable: true })
  email: string | null;
  @ApiProperty({ type: Boolean, description: 'Whether mails about the account are sent there' })
  email_verified: boolean;
  @ApiProperty({ type: String, nullable: true })
  avatar_url: string | null;
  @ApiProperty({ enum: ['administrator', 'member'] })
  role: SiteRole;
  @ApiProperty({ type: String, format: 'date-time', nullable: true, description: 'Premium lasts until then' })
  premium_until: string | null;
  @ApiProperty({ type: [String] })
  permissions: string[];
  @ApiProperty({ type: String, format: 'date-time' })
  created_at: string;
}

/** A login of the account. */
export class SiteSessionView {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ type: Boolean, description: 'The session of this request' })
  current: boolean;
  @ApiProperty({ type: String, nullable: true })
  ip: string | null;
  @ApiProperty({ type: String, nullable: true })
  user_agent: string | null;
  @ApiProperty({ type: String, format: 'date-time' })
  created_at: string;
  @ApiProperty({ type: String, format: 'date-time' })
  expires_at: string;
}

export function toSiteAccountView(account: SiteAccount): SiteAccountView {
  return {
    id: account.id,
    username: account.username,
    nickname: account.nickname,
    email: account.email,
    email_verified: account.emailVerifiedAt !== null,
    avatar_url: account.avatarUrl,
    role: account.role,
    premium_until: account.premiumUntil === null ? null : endOf(account.premiumUntil),
    permissions: account.permissions,
    created_at: account.createdAt.toISOString(),
  };
}

export function toSiteSessionView(session: SiteSession, currentId: number | null): SiteSessionView {
  return {
    id: session.id,
    current: session.id === currentId,
    ip: session.ip,
    user_agent: session.userAgent,
    created_at: session.createdAt.toISOString(),
    expires_at: session.expiresAt.toISOString(),
  };
}

/** The database's `infinity` is not a date in JavaScript. */
export function endOf(at: Date | number): string {
  const end = new Date(at);
  return Number.isNaN(end.getTime()) ? '9999-12-31T23:59:59.000Z' : end.toISOString();
}
