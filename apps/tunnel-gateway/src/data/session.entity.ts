import { BigIntColumn, BigIntId, TimestampColumn } from '@gatehouse/persistence';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A login, without its token, which no code needs to read. The columns are given by the data model. */
@Entity('sessions', { schema: 'tunnel_gateway', synchronize: false })
export class SessionRow {
  @BigIntId()
  id: number;

  @BigIntColumn({ name: 'user_id' })
  userId: number;

  @TimestampColumn({ name: 'expires_at', nullable: true })
  expiresAt: Date | null;

  @TimestampColumn({ name: 'created_at', nullable: true })
  createdAt: Date | null;
}

/** Details without a column in the data model. */
@Entity('session_details', { synchronize: false })
export class SessionDetails {
  @PrimaryColumn({ name: 'session_id', type: 'bigint' })
  sessionId: number;

  /** Address of the login. */
  @Column({ type: 'text', nullable: true })
  address: string | null;

  /** User agent of the login. */
  @Column({ type: 'text', nullable: true })
  software: string | null;

  @TimestampColumn({ name: 'last_used_at', nullable: true })
  lastUsedAt: Date | null;

  @Column({ name: 'last_used_ip', type: 'text', nullable: true })
  lastUsedIp: string | null;
}
