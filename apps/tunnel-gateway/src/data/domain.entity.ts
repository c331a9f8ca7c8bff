import { BigIntColumn, BigIntId, TimestampColumn } from '@gatehouse/persistence';
import { Check, Column, Entity, Index, JoinColumn, ManyToOne, Unique } from 'typeorm';
import { User } from './user.entity.js';

export const DOMAIN_METHODS = ['assigned', 'dns'] as const;
export type DomainMethod = (typeof DOMAIN_METHODS)[number];

/** A name that belongs to a user, with everything below it, or that the user has still to prove. */
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

  /** How it came to be theirs: an administrator gave it to them, or a DNS record proves it. */
  @Column({ type: 'text' })
  method: DomainMethod;

  /** What the TXT record has to say. */
  @Column({ type: 'text' })
  challenge: string;

  /** Since when it is theirs; null: it is not proven yet. */
  @TimestampColumn({ name: 'verified_at', nullable: true })
  verifiedAt: Date | null;

  @TimestampColumn({ name: 'created_at', default: () => 'now()' })
  createdAt: Date;

  @TimestampColumn({ name: 'updated_at', default: () => 'now()' })
  updatedAt: Date;
}
