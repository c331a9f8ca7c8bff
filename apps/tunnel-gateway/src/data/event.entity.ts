import type { EventType } from '@gatehouse/contracts';
import { BigIntColumn, TimestampColumn } from '@gatehouse/persistence';
import { Check, Column, Entity, Index, PrimaryGeneratedColumn, Unique } from 'typeorm';
import type { EventResourceKind } from '../common/new-event.js';

/** An event of the log. */
@Entity('events')
@Unique('events_id_key', ['id'])
@Index('events_owner_user_id_idx', ['ownerUserId', 'id'])
@Index('events_resource_idx', ['resourceType', 'resourceId', 'id'])
@Index('events_type_idx', ['type', 'id'])
@Index('events_created_at_idx', ['createdAt'])
@Check('events_resource_check', '(resource_type IS NULL) = (resource_id IS NULL)')
export class EventRow {
  /** Order of recording; only used by the table itself. */
  @PrimaryGeneratedColumn('identity', { type: 'bigint', generatedIdentity: 'ALWAYS' })
  entry: number;

  /** Order of commits, set by a trigger: a reader that has seen one never finds a lower one later. */
  @BigIntColumn({ nullable: true })
  id: number;

  @Column({ type: 'text' })
  type: EventType;

  @Column({ name: 'resource_type', type: 'text', nullable: true })
  resourceType: EventResourceKind | null;

  @BigIntColumn({ name: 'resource_id', nullable: true })
  resourceId: number | null;

  /** Who may see it; null: administrators. */
  @BigIntColumn({ name: 'owner_user_id', nullable: true })
  ownerUserId: number | null;

  @Column({ type: 'text' })
  message: string;

  @Column({ type: 'jsonb', default: {} })
  data: Record<string, unknown>;

  @TimestampColumn({ name: 'created_at', default: () => 'now()' })
  createdAt: Date;
}
