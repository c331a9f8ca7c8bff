import { UpdatedAt } from '@gatehouse/persistence';
import { Column, Entity, PrimaryColumn } from 'typeorm';

/** One row, id 1. */
@Entity('outbound_policy')
export class OutboundPolicyEntity {
  @PrimaryColumn({ type: 'integer' })
  id: number;

  /** Kernel tag. */
  @Column({ name: 'default_policy', type: 'text' })
  defaultPolicy: string;

  @UpdatedAt()
  updatedAt: Date;
}
