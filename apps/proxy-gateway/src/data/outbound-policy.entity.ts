import { UpdatedAt } from '@gatehouse/persistence';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A single row with id 1. */
@Entity('outbound_policy')
export class OutboundPolicyEntity {
  @PrimaryColumn({ type: 'integer' })
  id: number;

  /** A kernel tag. */
  @Column({ name: 'default_policy', type: 'text' })
  defaultPolicy: string;

  @UpdatedAt()
  updatedAt: Date;
}
