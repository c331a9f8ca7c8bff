import { BigIntColumn, BigIntId, TimestampColumn } from '@gatehouse/persistence';
import { Check, Column, Entity, Index, JoinColumn, ManyToOne, OneToOne, PrimaryColumn } from 'typeorm';
import { Client } from './client.entity.js';
import { ENABLED } from './user.entity.js';

export const HOST_SCHEMES = ['all', 'http', 'https'] as const;
export type HostScheme = (typeof HOST_SCHEMES)[number];

/** What is kept of the requests of a host for its owner. */
export const RECORD_LEVELS = ['off', 'requests', 'full'] as const;
export type HostRecordLevel = (typeof RECORD_LEVELS)[number];

export const REDIRECT_STATUSES = [301, 302, 307, 308] as const;

/** Where visitors are sent, as in the API. */
export interface StoredRedirect {
  to: string;
  status: (typeof REDIRECT_STATUSES)[number];
  keep_path: boolean;
}

export const HEALTH_CHECK_TYPES = ['http', 'tcp'] as const;

/** How targets are checked, with every field, as in the API. */
export interface StoredHealthCheck {
  type: (typeof HEALTH_CHECK_TYPES)[number];
  path: string;
  expected_status: string;
  interval_seconds: number;
  timeout_seconds: number;
  healthy_threshold: number;
  unhealthy_threshold: number;
}

/** A domain, or a path of one, that leads to a client's targets. The columns are given by the data model. */
@Entity('hosts', { schema: 'tunnel_gateway' })
@Index('hosts_client_id_idx', ['clientId'])
@Index('hosts_host_idx', ['host'])
@Check('hosts_scheme_check', `scheme IN ('all', 'http', 'https')`)
@Check('hosts_auto_https_check', 'auto_https IN (0, 1)')
@Check('hosts_status_check', 'status IN (0, 1)')
export class Host {
  @BigIntId()
  id: number;

  @BigIntColumn({ name: 'client_id' })
  clientId: number;

  @ManyToOne(() => Client, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'hosts_client_id_fkey' })
  client: Client;

  /** A-labels in lower case: a name, `*.name` or `*`. */
  @Column({ type: 'text' })
  host: string;

  @Column({ type: 'text', nullable: true, default: '/' })
  location: string | null;

  @Column({ type: 'text', nullable: true, default: 'all' })
  scheme: HostScheme | null;

  @Column({ name: 'target_addr', type: 'text' })
  targetAddr: string;

  @Column({ name: 'cert_path', type: 'text', nullable: true })
  certPath: string | null;

  @Column({ name: 'key_path', type: 'text', nullable: true })
  keyPath: string | null;

  @Column({ name: 'auto_https', type: 'integer', nullable: true, default: 0 })
  autoHttps: number | null;

  @Column({ type: 'integer', default: ENABLED })
  status: number;

  @BigIntColumn({ name: 'inlet_flow', nullable: true, default: 0 })
  inletFlow: number | null;

  @BigIntColumn({ name: 'export_flow', nullable: true, default: 0 })
  exportFlow: number | null;

  @TimestampColumn({ name: 'created_at', nullable: true })
  createdAt: Date | null;

  @TimestampColumn({ name: 'updated_at', nullable: true })
  updatedAt: Date | null;
}

/** Options without a column in the data model. */
@Entity('host_options')
@Check('host_options_max_body_bytes_check', 'max_body_bytes >= 0')
@Check('host_options_record_requests_check', `record_requests IN ('off', 'requests', 'full')`)
export class HostOptions {
  @PrimaryColumn({ name: 'host_id', type: 'bigint' })
  hostId: number;

  @OneToOne(() => Host, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'host_id', foreignKeyConstraintName: 'host_options_host_fk' })
  host: Host;

  /** Sent to targets as `Host`; null: the visitor's own. */
  @Column({ name: 'rewrite_host', type: 'text', nullable: true })
  rewriteHost: string | null;

  @Column({ name: 'strict_path', type: 'boolean', default: false })
  strictPath: boolean;

  /** Replaces the location at the beginning of paths; `/`: removes it. Null: it stays. */
  @Column({ name: 'rewrite_path', type: 'text', nullable: true })
  rewritePath: string | null;

  @Column({ type: 'boolean', default: false })
  sticky: boolean;

  /** 0: no limit. */
  @BigIntColumn({ name: 'max_body_bytes', default: 0 })
  maxBodyBytes: number;

  /** HTML for browsers; null: the gateway's own page. */
  @Column({ name: 'error_page', type: 'text', nullable: true })
  errorPage: string | null;

  @Column({ name: 'request_headers', type: 'jsonb', default: {} })
  requestHeaders: Record<string, string>;

  @Column({ name: 'response_headers', type: 'jsonb', default: {} })
  responseHeaders: Record<string, string>;

  @Column({ type: 'boolean', default: false })
  compress: boolean;

  /** Null: visitors are served. */
  @Column({ type: 'jsonb', nullable: true })
  redirect: StoredRedirect | null;

  /** Null: targets are not checked. */
  @Column({ name: 'health_check', type: 'jsonb', nullable: true })
  healthCheck: StoredHealthCheck | null;

  @Column({ name: 'record_requests', type: 'text', default: 'off' })
  recordRequests: HostRecordLevel;
}
