import { BigIntColumn, BigIntId, TimestampColumn } from '@gatehouse/persistence';
import type { IpPatternKind, IpRuleScope } from '@gatehouse/tunnel-kernel';
import { Check, Column, Entity, Index, JoinColumn, OneToOne, PrimaryColumn } from 'typeorm';

export const RULE_SCOPES = ['global', 'console', 'user', 'client', 'tunnel', 'host'] as const satisfies IpRuleScope[];
export const RULE_TYPES = ['allow', 'deny'] as const;
export type RuleType = (typeof RULE_TYPES)[number];
export const PATTERN_KINDS = [
  'exact',
  'cidr',
  'wildcard',
  'range',
  'country',
  'asn',
  'any',
  'list',
] as const satisfies IpPatternKind[];

/** A rule that allows or denies addresses. The columns are given by the data model. */
@Entity('ip_rules', { schema: 'tunnel_gateway' })
@Index('ip_rules_resource_idx', ['scope', 'resourceId'])
// Decorators cannot express these indexes: only the migration defines them.
@Index('ip_rules_priority_idx', { synchronize: false })
@Index('ip_rules_pattern_idx', { synchronize: false })
@Index('ip_rules_country_idx', { synchronize: false })
@Index('ip_rules_asn_idx', { synchronize: false })
@Index('ip_rules_list_idx', { synchronize: false })
@Check('ip_rules_scope_check', `scope IN ('global', 'console', 'user', 'client', 'tunnel', 'host')`)
@Check('ip_rules_type_check', `type IN ('allow', 'deny')`)
@Check(
  'ip_rules_pattern_kind_check',
  `pattern_kind IN ('exact', 'cidr', 'wildcard', 'range', 'country', 'asn', 'any', 'list')`,
)
export class IpRule {
  @BigIntId()
  id: number;

  @Column({ type: 'text' })
  scope: IpRuleScope;

  /** 0 for `global` and `console`. */
  @BigIntColumn({ name: 'resource_id', nullable: true, default: 0 })
  resourceId: number | null;

  @Column({ type: 'text' })
  type: RuleType;

  @Column({ type: 'text' })
  pattern: string;

  @Column({ name: 'pattern_kind', type: 'text', default: 'exact' })
  patternKind: IpPatternKind;

  @Column({ type: 'integer', nullable: true, default: 0 })
  priority: number | null;

  @Column({ type: 'text', nullable: true })
  remark: string | null;

  @TimestampColumn({ name: 'created_at', nullable: true })
  createdAt: Date | null;

  @TimestampColumn({ name: 'updated_at', nullable: true })
  updatedAt: Date | null;
}

/** Whether the rule `row` cannot refuse a visitor of a tunnel, which has no requests. */
export const spareTunnels = (row: string): string => `(${row}.type = 'deny' AND EXISTS (
  SELECT FROM tunnel_gateway_ops.ip_rule_options o
  WHERE o.rule_id = ${row}.id AND (o.paths IS NOT NULL OR o.methods IS NOT NULL)))`;

/** What a rule says about requests, which has no column in the data model. */
@Entity('ip_rule_options')
@Check('ip_rule_options_paths_check', `jsonb_typeof(paths) = 'array' AND paths <> '[]'`)
@Check('ip_rule_options_methods_check', `jsonb_typeof(methods) = 'array' AND methods <> '[]'`)
export class IpRuleOptions {
  @PrimaryColumn({ name: 'rule_id', type: 'bigint' })
  ruleId: number;

  @OneToOne(() => IpRule, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'rule_id', foreignKeyConstraintName: 'ip_rule_options_rule_fk' })
  rule: IpRule;

  /** Null: any. */
  @Column({ type: 'jsonb', nullable: true })
  paths: string[] | null;

  /** Null: any. */
  @Column({ type: 'jsonb', nullable: true })
  methods: string[] | null;
}
