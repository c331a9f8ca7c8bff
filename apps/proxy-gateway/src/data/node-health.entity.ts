import { BigIntColumn, TimestampColumn } from '@gatehouse/persistence';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { NodeEntity } from './node.entity.js';

/** One entry of `delay_history`. */
export interface DelayRecord {
  /** RFC 3339, in UTC. */
  time: string;
  /** Null: no answer. */
  delay_ms: number | null;
}

/** The `test_url` of measurements with the address of `health.url`, whatever it was at that time. */
export const GENERAL_URL = '';

/** The results of measuring one node with one test address. */
@Entity('node_health')
export class NodeHealthEntity {
  @PrimaryColumn({ name: 'node_id', type: 'bigint' })
  nodeId: number;

  /** Empty for the setting `health.url`; otherwise the test address of a group. */
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

  /** Failures since the last success. */
  @Column({ name: 'failure_count', type: 'integer', default: 0 })
  failureCount: number;

  @BigIntColumn({ default: 0 })
  tests: number;

  @BigIntColumn({ default: 0 })
  successes: number;

  /** The newest entry is last. */
  @Column({ name: 'delay_history', type: 'jsonb', default: [] })
  delayHistory: DelayRecord[];

  /** The job of the last measurement; null for a single test. */
  @Column({ name: 'job_id', type: 'text', nullable: true })
  jobId: string | null;
}
