import { BigIntColumn, BigIntId, TimestampColumn } from '@gatehouse/persistence';
import { Check, Column, Entity, Index, JoinColumn, ManyToOne, OneToOne, PrimaryColumn, Unique } from 'typeorm';
import { ENABLED, User } from './user.entity.js';

/** The owner of an agent. The columns are given by the data model, so times and limits may be null. */
@Entity('clients', { schema: 'tunnel_gateway' })
@Unique('clients_verify_key_key', ['verifyKey'])
@Index('clients_owner_user_id_idx', ['ownerUserId'])
@Check('clients_rate_limit_check', 'rate_limit >= 0')
@Check('clients_max_conn_check', 'max_conn >= 0')
@Check('clients_status_check', 'status IN (0, 1)')
export class Client {
  @BigIntId()
  id: number;

  @Column({ type: 'text' })
  name: string;

  /** SHA-256 of the agent's secret, hex. */
  @Column({ name: 'verify_key', type: 'text' })
  verifyKey: string;

  @BigIntColumn({ name: 'owner_user_id' })
  ownerUserId: number;

  @ManyToOne(() => User)
  @JoinColumn({ name: 'owner_user_id', foreignKeyConstraintName: 'clients_owner_user_id_fkey' })
  owner: User;

  /** KiB per second; 0: no limit. */
  @Column({ name: 'rate_limit', type: 'integer', nullable: true, default: 0 })
  rateLimit: number | null;

  @Column({ name: 'max_conn', type: 'integer', nullable: true, default: 0 })
  maxConn: number | null;

  @TimestampColumn({ name: 'expire_at', nullable: true })
  expireAt: Date | null;

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
@Entity('client_options')
@Index('client_options_previous_key_idx', ['previousVerifyKey'], { where: 'previous_verify_key IS NOT NULL' })
@Check('client_options_previous_key_check', '(previous_verify_key IS NULL) = (previous_key_until IS NULL)')
export class ClientOptions {
  @PrimaryColumn({ name: 'client_id', type: 'bigint' })
  clientId: number;

  @OneToOne(() => Client, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'client_id', foreignKeyConstraintName: 'client_options_client_fk' })
  client: Client;

  /** Whether data channels are encrypted. */
  @Column({ type: 'boolean', default: true })
  encrypt: boolean;

  /** Hash of the former key, which is valid until `previousKeyUntil`. */
  @Column({ name: 'previous_verify_key', type: 'text', nullable: true })
  previousVerifyKey: string | null;

  @TimestampColumn({ name: 'previous_key_until', nullable: true })
  previousKeyUntil: Date | null;
}
