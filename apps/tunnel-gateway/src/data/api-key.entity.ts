import type { Scope } from '@gatehouse/auth';
import { BigIntColumn, BigIntId, TimestampColumn } from '@gatehouse/persistence';
import { Column, Entity } from 'typeorm';

/** An API key, without its hash, which no code needs to read. */
@Entity('api_keys', { synchronize: false })
export class ApiKeyRow {
  @BigIntId()
  id: number;

  @Column({ type: 'text' })
  name: string;

  @Column({ name: 'key_prefix', type: 'text' })
  keyPrefix: string;

  @Column({ name: 'last_four', type: 'text' })
  lastFour: string;

  @Column({ type: 'text', array: true })
  scopes: Scope[];

  @BigIntColumn({ name: 'user_id', nullable: true })
  userId: number | null;

  @TimestampColumn({ name: 'created_at' })
  createdAt: Date;

  @TimestampColumn({ name: 'expires_at', nullable: true })
  expiresAt: Date | null;

  @TimestampColumn({ name: 'last_used_at', nullable: true })
  lastUsedAt: Date | null;

  @Column({ name: 'last_used_ip', type: 'text', nullable: true })
  lastUsedIp: string | null;

  @TimestampColumn({ name: 'revoked_at', nullable: true })
  revokedAt: Date | null;
}
