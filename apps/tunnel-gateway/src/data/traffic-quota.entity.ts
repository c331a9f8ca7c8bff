import { BigIntColumn, TimestampColumn } from '@gatehouse/persistence';
import { Check, Column, Entity, PrimaryColumn } from 'typeorm';
import type { QuotaPeriod } from '@gatehouse/contracts';
import type { QuotaResource } from '../common/quota-rows.js';

/** How much traffic something may have. What has none has no row. */
@Entity('traffic_quotas')
@Check('traffic_quotas_resource_type_check', `resource_type IN ('user', 'client', 'tunnel')`)
@Check('traffic_quotas_bytes_check', 'bytes > 0')
@Check('traffic_quotas_period_check', `period IN ('total', 'day', 'month')`)
@Check('traffic_quotas_used_check', 'used >= 0')
export class TrafficQuotaRow {
  @PrimaryColumn({ name: 'resource_type', type: 'text', primaryKeyConstraintName: 'traffic_quotas_pkey' })
  resourceType: QuotaResource;

  @PrimaryColumn({ name: 'resource_id', type: 'bigint', primaryKeyConstraintName: 'traffic_quotas_pkey' })
  resourceId: number;

  /** In both directions together. */
  @BigIntColumn()
  bytes: number;

  /** What is used counts for so long, in UTC. */
  @Column({ type: 'text', default: 'total' })
  period: QuotaPeriod;

  /** In the period of `countedAt`. Only batches of counters add to it. */
  @BigIntColumn({ default: 0 })
  used: number;

  @TimestampColumn({ name: 'counted_at', default: () => 'now()' })
  countedAt: Date;
}
