import type { CountedResource } from '@gatehouse/contracts';
import { BigIntColumn, BigIntId, TimestampColumn } from '@gatehouse/persistence';
import { Check, Column, Entity, Index, Unique } from 'typeorm';

export const COUNTED_RESOURCES = [
  'global',
  'user',
  'client',
  'tunnel',
  'host',
] as const satisfies readonly CountedResource[];

/** Total traffic of a resource. The columns are given by the data model. */
@Entity('flow_stats', { schema: 'tunnel_gateway' })
@Unique('flow_stats_resource_key', ['resourceType', 'resourceId'])
@Check('flow_stats_resource_type_check', `resource_type IN ('global', 'user', 'client', 'tunnel', 'host')`)
export class FlowStat {
  @BigIntId()
  id: number;

  @Column({ name: 'resource_type', type: 'text' })
  resourceType: CountedResource;

  @BigIntColumn({ name: 'resource_id' })
  resourceId: number;

  @BigIntColumn({ name: 'inlet_bytes', nullable: true, default: 0 })
  inletBytes: number | null;

  @BigIntColumn({ name: 'export_bytes', nullable: true, default: 0 })
  exportBytes: number | null;

  @TimestampColumn({ name: 'updated_at', nullable: true })
  updatedAt: Date | null;
}

/** How often an address used a resource. The columns are given by the data model. */
@Entity('request_ips', { schema: 'tunnel_gateway' })
@Unique('request_ips_resource_ip_key', ['resourceType', 'resourceId', 'ip'])
@Index('request_ips_seen_idx', ['resourceType', 'resourceId', 'lastSeenAt'])
@Check('request_ips_resource_type_check', `resource_type IN ('global', 'user', 'client', 'tunnel', 'host')`)
export class RequestIp {
  @BigIntId()
  id: number;

  @Column({ name: 'resource_type', type: 'text' })
  resourceType: CountedResource;

  @BigIntColumn({ name: 'resource_id' })
  resourceId: number;

  @Column({ type: 'text' })
  ip: string;

  @BigIntColumn({ name: 'hit_count', nullable: true, default: 0 })
  hitCount: number | null;

  @TimestampColumn({ name: 'last_seen_at', nullable: true })
  lastSeenAt: Date | null;
}
