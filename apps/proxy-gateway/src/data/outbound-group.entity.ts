import type { GroupFilter, GroupStrategy, GroupSwitchView, OutboundGroupType } from '@gatehouse/contracts';
import { BigIntColumn, BigIntId, CreatedAt, UpdatedAt } from '@gatehouse/persistence';
import { Column, Entity, Index, JoinColumn, ManyToOne, Unique } from 'typeorm';
import type { GroupIntake } from './group-intake.js';
import { SubscriptionEntity } from './subscription.entity.js';

@Entity('outbound_groups')
@Unique('outbound_groups_name_key', ['name'])
@Index('outbound_groups_country_key', ['country'], { unique: true, where: 'automatic' })
@Index('outbound_groups_profile_key', ['subscriptionId', 'profileName'], { unique: true })
export class OutboundGroupEntity {
  @BigIntId()
  id: number;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  type: OutboundGroupType;

  @Column({ type: 'integer' })
  position: number;

  /** Kernel tags of the members that were named individually, in order. */
  @Column({ type: 'jsonb' })
  members: string[];

  /** A filter that adds nodes as members; null for none. */
  @Column({ type: 'jsonb', nullable: true })
  filter: GroupFilter | null;

  /** A filter that excludes nodes from those. */
  @Column({ type: 'jsonb', nullable: true })
  exclude: GroupFilter | null;

  /** The automatic country groups are members. */
  @Column({ name: 'include_countries', type: 'boolean', default: false })
  includeCountries: boolean;

  @Column({ name: 'test_url', type: 'text', nullable: true })
  testUrl: string | null;

  @Column({ name: 'expected_status', type: 'text', nullable: true })
  expectedStatus: string | null;

  @Column({ name: 'interval_sec', type: 'integer', nullable: true })
  intervalSec: number | null;

  @Column({ name: 'tolerance_ms', type: 'integer', nullable: true })
  toleranceMs: number | null;

  @Column({ type: 'boolean', default: true })
  lazy: boolean;

  @Column({ type: 'text', nullable: true })
  strategy: GroupStrategy | null;

  @Column({ type: 'boolean', default: false })
  hidden: boolean;

  @Column({ type: 'text', nullable: true })
  icon: string | null;

  @Column({ name: 'empty_fallback', type: 'text', default: 'REJECT' })
  emptyFallback: string;

  /** An automatic group: it is created and removed as nodes of `country` come and go. */
  @Column({ type: 'boolean', default: false })
  automatic: boolean;

  @Column({ type: 'text', nullable: true })
  country: string | null;

  /** The subscription whose profile has the group; null for all other groups. */
  @BigIntColumn({ name: 'subscription_id', nullable: true })
  subscriptionId: number | null;

  @ManyToOne(() => SubscriptionEntity, { onDelete: 'CASCADE', nullable: true })
  @JoinColumn({ name: 'subscription_id', foreignKeyConstraintName: 'outbound_groups_profile_fk' })
  subscription?: SubscriptionEntity;

  /** Its name in the profile. `name` is another one if a group outside the profile has that. */
  @Column({ name: 'profile_name', type: 'text', nullable: true })
  profileName: string | null;

  /** The nodes that the profile adds behind the listed members. */
  @Column({ type: 'jsonb', nullable: true })
  intake: GroupIntake | null;

  /** Kernel tag of the member that a user chose; null without a choice. */
  @Column({ name: 'selected_tag', type: 'text', nullable: true })
  selectedTag: string | null;

  /** The name of that member, to show after it is gone. */
  @Column({ name: 'selected_name', type: 'text', nullable: true })
  selectedName: string | null;

  @Column({ name: 'last_switch', type: 'jsonb', nullable: true })
  lastSwitch: GroupSwitchView | null;

  /** Bytes of finished flows, written together with the traffic log. */
  @BigIntColumn({ name: 'upload_total', default: 0, insert: false, update: false })
  uploadTotal: number;

  @BigIntColumn({ name: 'download_total', default: 0, insert: false, update: false })
  downloadTotal: number;

  @CreatedAt()
  createdAt: Date;

  @UpdatedAt()
  updatedAt: Date;
}
