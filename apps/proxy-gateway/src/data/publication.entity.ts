import type { PublicationDefinition } from '@gatehouse/contracts';
import { BigIntColumn, BigIntId, CreatedAt, TimestampColumn, UpdatedAt } from '@gatehouse/persistence';
import { Column, Entity, Unique } from 'typeorm';

/** Nodes, groups and rules as a document that clients subscribe to. Its token is stored as its SHA-256 only. */
@Entity('publications')
@Unique('publications_token_key', ['tokenHash'])
export class PublicationEntity {
  @BigIntId()
  id: number;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'boolean', default: true })
  enabled: boolean;

  @Column({ name: 'token_hash', type: 'bytea' })
  tokenHash: Buffer;

  @Column({ name: 'last_four', type: 'text' })
  lastFour: string;

  @Column({ type: 'jsonb' })
  definition: PublicationDefinition;

  @TimestampColumn({ name: 'expires_at', nullable: true })
  expiresAt: Date | null;

  @Column({ name: 'fetches_per_hour', type: 'integer', nullable: true })
  fetchesPerHour: number | null;

  /** Addresses and networks in CIDR form; empty: all. */
  @Column({ name: 'allowed_addresses', type: 'text', array: true, default: [] })
  allowedAddresses: string[];

  /** Written in batches, never through this class; the same for the columns of the last use. */
  @BigIntColumn({ name: 'fetch_count', default: 0, insert: false, update: false })
  fetchCount: number;

  @TimestampColumn({ name: 'last_used_at', nullable: true, insert: false, update: false })
  lastUsedAt: Date | null;

  @Column({ name: 'last_used_ip', type: 'text', nullable: true, insert: false, update: false })
  lastUsedIp: string | null;

  @CreatedAt()
  createdAt: Date;

  @UpdatedAt()
  updatedAt: Date;
}
