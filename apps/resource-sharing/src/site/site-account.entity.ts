import { BigIntId, CreatedAt, TimestampColumn, UpdatedAt } from '@gatehouse/persistence';
import type { Language } from '@gatehouse/i18n';
import { Check, Column, Entity, Index, VirtualColumn } from 'typeorm';
import type { Theme } from '@gatehouse/contracts';

export type SiteRole = 'administrator' | 'member';

/** An account that logs in on the site itself. */
@Entity('site_accounts')
@Check('site_accounts_role_check', `role IN ('administrator', 'member')`)
@Check('site_accounts_language_check', `language IN ('en', 'zh-CN')`)
@Check('site_accounts_theme_check', `theme IN ('system', 'light', 'dark')`)
// The schema builder cannot express it; the migration creates it.
@Index('site_accounts_username_key', { synchronize: false })
@Index('site_accounts_verified_email_idx', { synchronize: false })
export class SiteAccount {
  @BigIntId()
  id: number;

  @Column({ type: 'text' })
  username: string;

  @Column({ type: 'text' })
  nickname: string;

  /** As entered by its owner, and not unique. It has no effect until it is verified. */
  @Column({ type: 'text', nullable: true })
  email: string | null;

  @TimestampColumn({ name: 'email_verified_at', nullable: true })
  emailVerifiedAt: Date | null;

  @Column({ name: 'avatar_url', type: 'text', nullable: true })
  avatarUrl: string | null;

  @Column({ name: 'password_hash', type: 'text' })
  passwordHash: string;

  /** Whether logins need a code of an authenticator app. */
  @VirtualColumn({
    type: 'boolean',
    query: (alias) =>
      `SELECT EXISTS (SELECT FROM user_totp f WHERE f.user_id = ${alias}.id AND f.confirmed_at IS NOT NULL)`,
  })
  hasSecondFactor: boolean;

  @Column({ type: 'text', default: 'member' })
  role: SiteRole;

  @TimestampColumn({ name: 'disabled_at', nullable: true })
  disabledAt: Date | null;

  /** Premium lasts until then; for ever when more than twenty years. */
  @TimestampColumn({ name: 'premium_until', nullable: true })
  premiumUntil: Date | null;

  /** In addition to those of every member: `share:manage`, `resource:notify`. */
  @Column({ type: 'text', array: true, default: '{}' })
  permissions: string[];

  /** Chosen on a page; null: the browser decides. */
  @Column({ type: 'text', nullable: true })
  language: Language | null;

  @Column({ type: 'text', nullable: true })
  theme: Theme | null;

  @TimestampColumn({ name: 'last_active_at', nullable: true })
  lastActiveAt: Date | null;

  @CreatedAt()
  createdAt: Date;

  @UpdatedAt()
  updatedAt: Date;
}
