import { BigIntColumn, UpdatedAt } from '@gatehouse/persistence';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { SubscriptionEntity } from './subscription.entity.js';

/** A single row with id 1. */
@Entity('outbound_policy')
export class OutboundPolicyEntity {
  @PrimaryColumn({ type: 'integer' })
  id: number;

  /** A kernel tag. */
  @Column({ name: 'default_policy', type: 'text' })
  defaultPolicy: string;

  /** The subscription whose profile drives the rules; null: only rules that were made here. */
  @BigIntColumn({ name: 'active_profile', nullable: true })
  activeProfile: number | null;

  @ManyToOne(() => SubscriptionEntity, { onDelete: 'SET NULL', nullable: true })
  @JoinColumn({ name: 'active_profile', foreignKeyConstraintName: 'outbound_policy_active_fk' })
  active?: SubscriptionEntity;

  /** What `activeProfile` was before. */
  @BigIntColumn({ name: 'previous_profile', nullable: true })
  previousProfile: number | null;

  @ManyToOne(() => SubscriptionEntity, { onDelete: 'SET NULL', nullable: true })
  @JoinColumn({ name: 'previous_profile', foreignKeyConstraintName: 'outbound_policy_previous_fk' })
  previous?: SubscriptionEntity;

  @Column({ name: 'can_go_back', type: 'boolean', default: false })
  canGoBack: boolean;

  @UpdatedAt()
  updatedAt: Date;
}
