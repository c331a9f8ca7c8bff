import type {
  IntervalSource,
  RefreshResult,
  SubscriptionProfile,
  SubscriptionStatus,
  SubscriptionTraffic,
  SubscriptionType,
} from '@gatehouse/contracts';
import { BigIntColumn, BigIntId, CreatedAt, TimestampColumn, UpdatedAt } from '@gatehouse/persistence';
import { Column, Entity, Index, JoinColumn, ManyToOne } from 'typeorm';

@Entity('subscriptions')
@Index('subscriptions_due_idx', ['nextRefreshAt'])
@Index('subscriptions_provider_key', ['profileId', 'providerName'], { unique: true })
export class SubscriptionEntity {
  @BigIntId()
  id: number;

  @Column({ type: 'text' })
  name: string;

  @Column({ name: 'sealed_url', type: 'text' })
  sealedUrl: string;

  @Column({ type: 'text' })
  type: SubscriptionType;

  @Column({ name: 'interval_sec', type: 'integer' })
  intervalSec: number;

  /** Who set the interval: the user or the provider. */
  @Column({ name: 'interval_source', type: 'text', default: 'user' })
  intervalSource: IntervalSource;

  @Column({ type: 'boolean' })
  enabled: boolean;

  @Column({ name: 'user_agent', type: 'text', nullable: true })
  userAgent: string | null;

  @Column({ name: 'allow_private', type: 'boolean', default: false })
  allowPrivate: boolean;

  /** Whether the rules of its document take part in routing. */
  @Column({ name: 'bring_rules', type: 'boolean', default: false })
  bringRules: boolean;

  /** The subscription whose profile has this one as a proxy provider; null for all other subscriptions. */
  @BigIntColumn({ name: 'profile_id', nullable: true })
  profileId: number | null;

  @ManyToOne(() => SubscriptionEntity, { onDelete: 'CASCADE', nullable: true })
  @JoinColumn({ name: 'profile_id', foreignKeyConstraintName: 'subscriptions_profile_fk' })
  ofProfile?: SubscriptionEntity;

  /** The provider's name in that profile. */
  @Column({ name: 'provider_name', type: 'text', nullable: true })
  providerName: string | null;

  /** The user agent that brought content when the chosen one did not; null while the chosen one works. */
  @Column({ name: 'working_user_agent', type: 'text', nullable: true })
  workingUserAgent: string | null;

  @Column({ name: 'detected_type', type: 'text', nullable: true })
  detectedType: string | null;

  @Column({ name: 'duplicate_count', type: 'integer', default: 0 })
  duplicateCount: number;

  @Column({ name: 'skipped_count', type: 'integer', default: 0 })
  skippedCount: number;

  @Column({ type: 'text', default: 'never' })
  status: SubscriptionStatus;

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

  @Column({ name: 'content_sha256', type: 'text', nullable: true })
  contentSha256: string | null;

  @BigIntColumn({ name: 'content_bytes', nullable: true })
  contentBytes: number | null;

  @Column({ type: 'jsonb', nullable: true })
  traffic: SubscriptionTraffic | null;

  @Column({ type: 'jsonb', nullable: true })
  profile: SubscriptionProfile | null;

  /** Result of the last attempt, successful or not. */
  @Column({ name: 'last_result', type: 'jsonb', nullable: true })
  lastResult: RefreshResult | null;

  /** Null while disabled. */
  @TimestampColumn({ name: 'next_refresh_at', nullable: true })
  nextRefreshAt: Date | null;

  /** Since when a due refresh has been queued or running. */
  @TimestampColumn({ name: 'dispatched_at', nullable: true })
  dispatchedAt: Date | null;

  @CreatedAt()
  createdAt: Date;

  @UpdatedAt()
  updatedAt: Date;
}
