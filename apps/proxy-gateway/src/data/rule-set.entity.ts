import type {
  RuleSetBehavior,
  RuleSetEntryError,
  RuleSetFormat,
  RuleSetStatus,
  RuleSetType,
} from '@gatehouse/contracts';
import { BigIntColumn, BigIntId, CreatedAt, TimestampColumn, UpdatedAt } from '@gatehouse/persistence';
import { Column, Entity, Index, JoinColumn, ManyToOne, Unique } from 'typeorm';
import { SubscriptionEntity } from './subscription.entity.js';

@Entity('rule_sets')
@Unique('rule_sets_name_key', ['name'])
@Index('rule_sets_profile_key', ['subscriptionId', 'profileName'], { unique: true })
export class RuleSetEntity {
  @BigIntId()
  id: number;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  type: RuleSetType;

  @Column({ type: 'text' })
  behavior: RuleSetBehavior;

  @Column({ type: 'text' })
  format: RuleSetFormat;

  @Column({ name: 'sealed_url', type: 'text', nullable: true })
  sealedUrl: string | null;

  /** A path inside the folder of rule sets. */
  @Column({ type: 'text', nullable: true })
  path: string | null;

  @Column({ name: 'interval_sec', type: 'integer' })
  intervalSec: number;

  @Column({ type: 'boolean', default: true })
  enabled: boolean;

  @Column({ name: 'allow_private', type: 'boolean', default: false })
  allowPrivate: boolean;

  @Column({ type: 'text', default: 'never' })
  status: RuleSetStatus;

  @TimestampColumn({ name: 'last_checked_at', nullable: true })
  lastCheckedAt: Date | null;

  @TimestampColumn({ name: 'last_updated_at', nullable: true })
  lastUpdatedAt: Date | null;

  @TimestampColumn({ name: 'last_success_at', nullable: true })
  lastSuccessAt: Date | null;

  @Column({ name: 'consecutive_failures', type: 'integer', default: 0 })
  consecutiveFailures: number;

  @Column({ name: 'last_status_code', type: 'integer', nullable: true })
  lastStatusCode: number | null;

  @Column({ name: 'last_error_code', type: 'text', nullable: true })
  lastErrorCode: string | null;

  @Column({ name: 'last_error_message', type: 'text', nullable: true })
  lastErrorMessage: string | null;

  @Column({ type: 'text', nullable: true })
  etag: string | null;

  @Column({ name: 'last_modified', type: 'text', nullable: true })
  lastModified: string | null;

  /** Hash of the source as it was received. */
  @Column({ name: 'content_sha256', type: 'text', nullable: true })
  contentSha256: string | null;

  @BigIntColumn({ name: 'content_bytes', nullable: true })
  contentBytes: number | null;

  /** Hash of the entries, one per line; null while there are none. */
  @Column({ name: 'entries_sha256', type: 'text', nullable: true })
  entriesSha256: string | null;

  @Column({ name: 'entry_count', type: 'integer', default: 0 })
  entryCount: number;

  @Column({ name: 'skipped_count', type: 'integer', default: 0 })
  skippedCount: number;

  /** The first of the entries that were skipped. */
  @Column({ type: 'jsonb', default: [] })
  errors: RuleSetEntryError[];

  /** The subscription whose profile has the set; null for all other sets. */
  @BigIntColumn({ name: 'subscription_id', nullable: true })
  subscriptionId: number | null;

  @ManyToOne(() => SubscriptionEntity, { onDelete: 'CASCADE', nullable: true })
  @JoinColumn({ name: 'subscription_id', foreignKeyConstraintName: 'rule_sets_profile_fk' })
  subscription?: SubscriptionEntity;

  /** Its name in the profile. */
  @Column({ name: 'profile_name', type: 'text', nullable: true })
  profileName: string | null;

  @CreatedAt()
  createdAt: Date;

  @UpdatedAt()
  updatedAt: Date;
}
