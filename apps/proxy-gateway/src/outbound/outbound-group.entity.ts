import type { GroupSwitchView, OutboundGroupType } from '@gatehouse/contracts';
import { BigIntId, CreatedAt, UpdatedAt } from '@gatehouse/persistence';
import { Column, Entity, Unique } from 'typeorm';

@Entity('outbound_groups')
@Unique('outbound_groups_name_key', ['name'])
export class OutboundGroupEntity {
  @BigIntId()
  id: number;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  type: OutboundGroupType;

  @Column({ type: 'integer' })
  position: number;

  /** Every usable node is a member, before `members`. */
  @Column({ name: 'include_nodes', type: 'boolean' })
  includeNodes: boolean;

  /** Tags of further members, in order. */
  @Column({ type: 'jsonb' })
  members: string[];

  /** Kernel tag of the member that a person chose; null while nobody has. */
  @Column({ name: 'selected_tag', type: 'text', nullable: true })
  selectedTag: string | null;

  /** What that member was called, for the day it is gone. */
  @Column({ name: 'selected_name', type: 'text', nullable: true })
  selectedName: string | null;

  @Column({ name: 'last_switch', type: 'jsonb', nullable: true })
  lastSwitch: GroupSwitchView | null;

  @CreatedAt()
  createdAt: Date;

  @UpdatedAt()
  updatedAt: Date;
}
