import { BigIntId, TimestampColumn } from '@gatehouse/persistence';
import { Check, Column, Entity, Unique } from 'typeorm';

export const USER_ROLES = ['admin', 'user', 'viewer'] as const;
export type UserRole = (typeof USER_ROLES)[number];

export const DISABLED = 0;
export const ENABLED = 1;

/** A user of the console. The columns are given by the data model, so times may be null. */
@Entity('users', { schema: 'tunnel_gateway' })
@Unique('users_username_key', ['username'])
@Check('users_role_check', `role IN ('admin', 'user', 'viewer')`)
@Check('users_status_check', 'status IN (0, 1)')
export class User {
  @BigIntId()
  id: number;

  @Column({ type: 'text' })
  username: string;

  @Column({ name: 'password_hash', type: 'text' })
  passwordHash: string;

  @Column({ type: 'text', default: 'user' })
  role: UserRole;

  @Column({ type: 'integer', default: ENABLED })
  status: number;

  @TimestampColumn({ name: 'created_at', nullable: true })
  createdAt: Date | null;

  @TimestampColumn({ name: 'updated_at', nullable: true })
  updatedAt: Date | null;
}
