import { BigIntColumn, TimestampColumn } from '@gatehouse/persistence';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { NodeEntity } from './node.entity.js';

/** One delay of `delay_history`. */
export interface DelayRecord {
  /** RFC 3339, UTC. */
  time: string;
  /** Null: it did not answer. */
  delay_ms: number | null;
}

/** `test_url` of measurements with the general address, whatever it was at the time. */
export const GENERAL_URL = '';

/** What measurements of one node with one address say. */
@Entity('node_health')
export class NodeHealthEntity {
  @PrimaryColumn({ name: 'node_id', type: 'bigint' })
  nodeId: number;

  /** Empty for the setting `health.url`; else the address of a group of its own. */
  @PrimaryColumn({ name: 'test_url', type: 'text' })
  testUrl: string;

  @ManyToOne(() => NodeEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'node_id', foreignKeyConstraintName: 'node_health_node_fk' })
  node: NodeEntity;

  @Column({ type: 'boolean' })
  alive: boolean;

  @Column({ name: 'delay_ms', type: 'integer', nullable: true })
  delayMs: number | null;

  @Column({ name: 'http_status', type: 'integer', nullable: true })
  httpStatus: number | null;

  @TimestampColumn({ name: 'last_tested_at' })
  lastTestedAt: Date;

  @Column({ name: 'error_code', type: 'text', nullable: true })
  errorCode: string | null;

  @Column({ name: 'error_message', type: 'text', nullable: true })
  errorMessage: string | null;

  /** Since the last success. */
  @Column({ name: 'failure_count', type: 'integer', default: 0 })
  failureCount: number;

  @BigIntColumn({ default: 0 })
  tests: number;

  @BigIntColumn({ default: 0 })
  successes: number;

  /** The newest last. */
  @Column({ name: 'delay_history', type: 'jsonb', default: [] })
  delayHistory: DelayRecord[];

  /** The job that measured last; null for a single test. */
  @Column({ name: 'job_id', type: 'text', nullable: true })
  jobId: string | null;
}
