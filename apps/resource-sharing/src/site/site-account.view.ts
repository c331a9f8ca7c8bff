import { ApiProperty } from '@nestjs/swagger';
import type { SiteAccount, SiteRole } from './site-account.entity.js';

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
  @ApiProperty({ type: String, nullable: true })
  avatar_url: string | null;
  @ApiProperty({ enum: ['administrator', 'member'] })
  role: SiteRole;
  @ApiProperty({ type: String, format: 'date-time' })
  created_at: string;
}

export function toSiteAccountView(account: SiteAccount): SiteAccountView {
  return {
    id: account.id,
    username: account.username,
    nickname: account.nickname,
    email: account.email,
    avatar_url: account.avatarUrl,
    role: account.role,
    created_at: account.createdAt.toISOString(),
  };
}
