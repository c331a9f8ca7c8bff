import { BigIntColumn, BigIntId, TimestampColumn } from '@gatehouse/persistence';
import type { VisitorPolicyType } from '@gatehouse/tunnel-kernel';
import { Check, Column, Entity, Index, JoinColumn, OneToOne, PrimaryColumn } from 'typeorm';
import type { StoredOAuth } from '../common/config-rows.js';

export const POLICY_RESOURCES = ['tunnel', 'host', 'client'] as const;
export type PolicyResource = (typeof POLICY_RESOURCES)[number];
export const POLICY_TYPES = ['password', 'basic', 'callback', 'oauth'] as const satisfies VisitorPolicyType[];

/** How visitors of a resource authenticate. The columns are given by the data model. */
@Entity('auth_policies', { schema: 'tunnel_gateway' })
@Index('auth_policies_resource_idx', ['resourceType', 'resourceId'])
@Check('auth_policies_resource_type_check', `resource_type IN ('tunnel', 'host', 'client')`)
@Check('auth_policies_type_check', `type IN ('password', 'basic', 'callback', 'oauth')`)
@Check('auth_policies_enabled_check', 'enabled IN (0, 1)')
@Check('auth_policies_ttl_seconds_check', 'ttl_seconds BETWEEN 0 AND 2592000')
export class AuthPolicy {
  @BigIntId()
  id: number;

  @Column({ name: 'resource_type', type: 'text' })
  resourceType: PolicyResource;

  @BigIntColumn({ name: 'resource_id' })
  resourceId: number;

  @Column({ type: 'text' })
  type: VisitorPolicyType;

  /** Hashes: of one password, or lines of `user:hash`. */
  @Column({ type: 'text', nullable: true })
  password: string | null;

  @Column({ name: 'callback_url', type: 'text', nullable: true })
  callbackUrl: string | null;

  @Column({ type: 'integer', default: 1 })
  enabled: number;

  @Column({ name: 'ttl_seconds', type: 'integer', nullable: true, default: 7200 })
  ttlSeconds: number | null;

  @TimestampColumn({ name: 'created_at', nullable: true })
  createdAt: Date | null;

  @TimestampColumn({ name: 'updated_at', nullable: true })
  updatedAt: Date | null;
}

/** Options without a column in the data model. */
@Entity('policy_options')
export class PolicyOptions {
  @PrimaryColumn({ name: 'policy_id', type: 'bigint' })
  policyId: number;

  @OneToOne(() => AuthPolicy, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'policy_id', foreignKeyConstraintName: 'policy_options_policy_fk' })
  policy: AuthPolicy;

  /** Type `callback`: fields of its answer that targets get. */
  @Column({ name: 'copy_headers', type: 'jsonb', default: [] })
  copyHeaders: string[];

  /** Types `callback` and `oauth`: the server may be inside the gateway's network; only administrators may set this. */
  @Column({ name: 'allow_private', type: 'boolean', default: false })
  allowPrivate: boolean;

  /** Type `oauth`: the registration at an authorization server, without its secret. */
  @Column({ type: 'jsonb', nullable: true })
  oauth: StoredOAuth | null;

  /** Type `oauth`: the client's secret, sealed; null for a public client. */
  @Column({ name: 'sealed_secret', type: 'text', nullable: true })
  sealedSecret: string | null;
}
