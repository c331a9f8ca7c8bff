import { BigIntColumn, BigIntId, CreatedAt, TimestampColumn, UpdatedAt } from '@gatehouse/persistence';
import type { RuleSource } from '@gatehouse/contracts';
import { Check, Column, Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { RuleSetEntity } from './rule-set.entity.js';
import { SubscriptionEntity } from './subscription.entity.js';

@Entity('rules')
@Index('rules_order_idx', ['priority', 'id'])
@Index('rules_subscription_idx', ['subscriptionId'])
@Index('rules_rule_set_idx', ['ruleSetId'])
@Check('rules_source_check', `source IN ('manual', 'subscription', 'system', 'ruleset')`)
export class Rule {
  @BigIntId()
  id: number;

  @Column({ type: 'text', default: 'manual' })
  source: RuleSource;

  @BigIntColumn({ name: 'subscription_id', nullable: true })
  subscriptionId: number | null;

  @ManyToOne(() => SubscriptionEntity, { onDelete: 'CASCADE', nullable: true })
  @JoinColumn({ name: 'subscription_id', foreignKeyConstraintName: 'rules_subscription_fk' })
  subscription?: SubscriptionEntity;

  /** The rule set that owns this rule. */
  @BigIntColumn({ name: 'rule_set_id', nullable: true })
  ruleSetId: number | null;

  @ManyToOne(() => RuleSetEntity, { onDelete: 'CASCADE', nullable: true })
  @JoinColumn({ name: 'rule_set_id', foreignKeyConstraintName: 'rules_rule_set_fk' })
  ruleSet?: RuleSetEntity;

  @Column({ type: 'text' })
  type: string;

  @Column({ type: 'text', default: '' })
  payload: string;

  /** A kernel tag: a group's name, `n12` or a built-in. */
  @Column({ type: 'text' })
  target: string;

  @Column({ name: 'no_resolve', type: 'boolean', default: false })
  noResolve: boolean;

  @Column({ type: 'boolean', default: false })
  src: boolean;

  @Column({ type: 'boolean', default: true })
  enabled: boolean;

  /** Of a rule that was made here: behind the profile's rules, before its closing MATCH. */
  @Column({ name: 'after_profile', type: 'boolean', default: false })
  afterProfile: boolean;

  /** Rules with lower positions are tried first. */
  @BigIntColumn()
  priority: number;

  @Column({ type: 'text', nullable: true })
  note: string | null;

  /** Written by the accounting only, never through this class. */
  @BigIntColumn({ name: 'hit_count', default: 0, insert: false, update: false })
  hitCount: number;

  @TimestampColumn({ name: 'hit_at', nullable: true, insert: false, update: false })
  hitAt: Date | null;

  @CreatedAt()
  createdAt: Date;

  @UpdatedAt()
  updatedAt: Date;
}
