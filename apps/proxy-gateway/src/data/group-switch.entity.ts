import { BigIntColumn, BigIntId, TimestampColumn } from '@gatehouse/persistence';
import { Column, Entity, Index, JoinColumn, ManyToOne } from 'typeorm';
import { OutboundGroupEntity } from './outbound-group.entity.js';

/** One switch of a group from one member to another. */
@Entity('group_switches')
@Index('group_switches_group_idx', ['groupId', 'at'])
export class GroupSwitchEntity {
  @BigIntId()
  id: number;

  @BigIntColumn({ name: 'group_id' })
  groupId: number;

  @ManyToOne(() => OutboundGroupEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'group_id', foreignKeyConstraintName: 'group_switches_group_fk' })
  group: OutboundGroupEntity;

  @TimestampColumn()
  at: Date;

  @Column({ name: 'from_tag', type: 'text', nullable: true })
  fromTag: string | null;

  @Column({ name: 'from_name', type: 'text', nullable: true })
  fromName: string | null;

  /** Null: the group had no members left. */
  @Column({ name: 'to_tag', type: 'text', nullable: true })
  toTag: string | null;

  @Column({ name: 'to_name', type: 'text' })
  toName: string;

  @Column({ type: 'text' })
  reason: string;

  @Column({ name: 'closed_connections', type: 'integer', nullable: true })
  closedConnections: number | null;
}
