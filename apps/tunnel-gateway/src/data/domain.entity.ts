import { BigIntColumn, BigIntId, TimestampColumn } from '@gatehouse/persistence';
import { Check, Column, Entity, Index, JoinColumn, ManyToOne, Unique } from 'typeorm';
import { User } from './user.entity.js';

export const DOMAIN_METHODS = ['assigned', 'dns'] as const;
export type DomainMethod = (typeof DOMAIN_METHODS)[number];

/** A name that belongs to a user, with everything below it, or that the user still has to prove. */
@Entity('domains')
@Unique('domains_user_id_name_key', ['userId', 'name'])
@Index('domains_verified_name_key', ['name'], { unique: true, where: '(verified_at IS NOT NULL)' })
@Check('domains_method_check', `method IN ('assigned', 'dns')`)
export class Domain {
  @BigIntId()
  id: number;

  @BigIntColumn({ name: 'user_id' })
  userId: number;

  @ManyToOne(() => User, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'user_id', foreignKeyConstraintName: 'domains_user_id_fkey' })
  user: User;

  /** A-labels in lower case. */
  @Column({ type: 'text' })
  name: string;

  /** How the user got it: assigned by an administrator, or proved by a DNS record. */
  @Column({ type: 'text' })
  method: DomainMethod;

  /** The expected content of the TXT record. */
  @Column({ type: 'text' })
  challenge: string;

  /** When it was proved or assigned; null: not yet. */
  @TimestampColumn({ name: 'verified_at', nullable: true })
  verifiedAt: Date | null;

  @TimestampColumn({ name: 'created_at', default: () => 'now()' })
  createdAt: Date;

  @TimestampColumn({ name: 'updated_at', default: () => 'now()' })
  updatedAt: Date;
}
