import { BigIntColumn, BigIntId, CreatedAt, TimestampColumn, UpdatedAt } from '@gatehouse/persistence';
import type { RuleSource } from '@gatehouse/contracts';
import { Check, Column, Entity, Index } from 'typeorm';

@Entity('rules')
@Index('rules_order_idx', ['priority', 'id'])
@Check('rules_source_check', `source IN ('manual', 'subscription', 'system', 'ruleset')`)
export class Rule {
  @BigIntId()
  id: number;

  @Column({ type: 'text', default: 'manual' })
  source: RuleSource;

  @BigIntColumn({ name: 'subscription_id', nullable: true })
  subscriptionId: number | null;

  @Column({ type: 'text' })
  type: string;

  @Column({ type: 'text', default: '' })
  payload: string;

  /** Kernel tag: a group's name, `n12` or a built-in. */
  @Column({ type: 'text' })
  target: string;

  @Column({ name: 'no_resolve', type: 'boolean', default: false })
  noResolve: boolean;

  @Column({ type: 'boolean', default: false })
  src: boolean;

  @Column({ type: 'boolean', default: true })
  enabled: boolean;

  /** Lower goes first. */
  @BigIntColumn()
  priority: number;

  @Column({ type: 'text', nullable: true })
  note: string | null;

  /** Written by the accounting writer, never through this class. */
  @BigIntColumn({ name: 'hit_count', default: 0, insert: false, update: false })
  hitCount: number;

  @TimestampColumn({ name: 'hit_at', nullable: true, insert: false, update: false })
  hitAt: Date | null;

  @CreatedAt()
  createdAt: Date;

  @UpdatedAt()
  updatedAt: Date;
}
