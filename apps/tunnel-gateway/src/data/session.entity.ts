import { BigIntColumn, BigIntId, TimestampColumn } from '@gatehouse/persistence';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A login, without its token, which nobody has to read. The columns are the data model's. */
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

/** What the data model has no column for. */
@Entity('session_details', { synchronize: false })
export class SessionDetails {
  @PrimaryColumn({ name: 'session_id', type: 'bigint' })
  sessionId: number;

  /** Where the login came from. */
  @Column({ type: 'text', nullable: true })
  address: string | null;

  /** What the program said of itself. */
  @Column({ type: 'text', nullable: true })
  software: string | null;

  @TimestampColumn({ name: 'last_used_at', nullable: true })
  lastUsedAt: Date | null;

  @Column({ name: 'last_used_ip', type: 'text', nullable: true })
  lastUsedIp: string | null;
}
