import type { QuotaPeriod } from '@gatehouse/contracts';
import { BigIntColumn, BigIntId, CreatedAt, TimestampColumn, UpdatedAt } from '@gatehouse/persistence';
import { Column, Entity, Unique } from 'typeorm';

/** A user of the proxy's ports. */
@Entity('proxy_users')
@Unique('proxy_users_name_key', ['name'])
export class ProxyUserEntity {
  @BigIntId()
  id: number;

  @Column({ type: 'text' })
  name: string;

  /** Sealed: mihomo needs it as it is, and administrators hand it out again. */
  @Column({ type: 'text' })
  password: string;

  @Column({ type: 'boolean', default: true })
  enabled: boolean;

  @Column({ type: 'text', default: '' })
  note: string;

  @TimestampColumn({ name: 'expires_at', nullable: true })
  expiresAt: Date | null;

  /** Addresses and networks in CIDR form; empty: all. */
  @Column({ name: 'allowed_addresses', type: 'text', array: true, default: [] })
  allowedAddresses: string[];

  @Column({ name: 'max_connections', type: 'integer', nullable: true })
  maxConnections: number | null;

  /** Bytes per second. */
  @BigIntColumn({ name: 'rate_limit', nullable: true })
  rateLimit: number | null;

  /** Bytes in a period. */
  @BigIntColumn({ name: 'traffic_quota', nullable: true })
  trafficQuota: number | null;

  @Column({ name: 'quota_period', type: 'text', default: 'total' })
  quotaPeriod: QuotaPeriod;

  /** The period that `period_traffic` belongs to, which may be over: see `proxy-user-period.ts`. */
  @TimestampColumn({ name: 'period_start', default: () => 'now()' })
  periodStart: Date;

  /** Written with the traffic, never through this class; the same for the next three. */
  @BigIntColumn({ name: 'period_traffic', default: 0, insert: false, update: false })
  periodTraffic: number;

  @BigIntColumn({ name: 'upload_total', default: 0, insert: false, update: false })
  uploadTotal: number;

  @BigIntColumn({ name: 'download_total', default: 0, insert: false, update: false })
  downloadTotal: number;

  @TimestampColumn({ name: 'last_used_at', nullable: true, insert: false, update: false })
  lastUsedAt: Date | null;

  @CreatedAt()
  createdAt: Date;

  @UpdatedAt()
  updatedAt: Date;
}
