import { Column, Entity, Index, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { SubscriptionEntity } from './subscription.entity.js';
import { NodeEntity } from './node.entity.js';

/** A subscription contains a node: its name there and its place in the list. */
@Entity('node_sources')
@Index('node_sources_node_idx', ['nodeId'])
export class NodeSourceEntity {
  @PrimaryColumn({ name: 'subscription_id', type: 'bigint' })
  subscriptionId: number;

  @PrimaryColumn({ name: 'node_id', type: 'bigint' })
  nodeId: number;

  @ManyToOne(() => SubscriptionEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'subscription_id', foreignKeyConstraintName: 'node_sources_subscription_fk' })
  subscription: SubscriptionEntity;

  @ManyToOne(() => NodeEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'node_id', foreignKeyConstraintName: 'node_sources_node_fk' })
  node: NodeEntity;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'integer' })
  position: number;
}
