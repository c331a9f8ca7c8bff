import type { EventType } from '@gatehouse/contracts';
import { BigIntColumn, BigIntId, TimestampColumn } from '@gatehouse/persistence';
import { Check, Column, Entity, Index, JoinColumn, ManyToOne, Unique } from 'typeorm';
import { ENABLED, User } from './user.entity.js';

/** A receiver of events. */
@Entity('webhooks')
@Index('webhooks_owner_user_id_idx', ['ownerUserId'])
@Check('webhooks_status_check', 'status IN (0, 1)')
export class Webhook {
  @BigIntId()
  id: number;

  @BigIntColumn({ name: 'owner_user_id' })
  ownerUserId: number;

  @ManyToOne(() => User, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'owner_user_id', foreignKeyConstraintName: 'webhooks_owner_user_id_fkey' })
  owner: User;

  @Column({ type: 'text' })
  name: string;

  @Column({ type: 'text' })
  url: string;

  /** Empty: all. */
  @Column({ name: 'event_types', type: 'text', array: true, default: [] })
  eventTypes: EventType[];

  /** Signs the messages; sealed with the key of the service. */
  @Column({ name: 'sealed_secret', type: 'text' })
  sealedSecret: string;

  @Column({ type: 'integer', default: ENABLED })
  status: number;

  /** Time of the first delivery that was given up; null after a successful one. */
  @TimestampColumn({ name: 'failing_since', nullable: true })
  failingSince: Date | null;

  @TimestampColumn({ name: 'created_at', default: () => 'now()' })
  createdAt: Date;

  @TimestampColumn({ name: 'updated_at', default: () => 'now()' })
  updatedAt: Date;
}

export const DELIVERY_STATES = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** One event for one webhook. */
@Entity('webhook_deliveries')
@Unique('webhook_deliveries_event_key', ['webhookId', 'eventId'])
@Index('webhook_deliveries_webhook_id_idx', ['webhookId', 'id'])
@Index('webhook_deliveries_waiting_idx', ['nextAttemptAt'], { where: "status = 'pending'" })
@Index('webhook_deliveries_created_at_idx', ['createdAt'])
@Check('webhook_deliveries_status_check', `status IN ('pending', 'delivered', 'dead')`)
export class WebhookDelivery {
  @BigIntId()
  id: number;

  @BigIntColumn({ name: 'webhook_id' })
  webhookId: number;

  @ManyToOne(() => Webhook, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'webhook_id', foreignKeyConstraintName: 'webhook_deliveries_webhook_id_fkey' })
  webhook: Webhook;

  /** Null: a test. */
  @BigIntColumn({ name: 'event_id', nullable: true })
  eventId: number | null;

  @Column({ type: 'text' })
  type: string;

  /** The body, identical for every attempt. */
  @Column({ type: 'text' })
  body: string;

  @Column({ type: 'text', default: 'pending' })
  status: DeliveryState;

  @Column({ type: 'integer', default: 0 })
  attempts: number;

  @TimestampColumn({ name: 'next_attempt_at', nullable: true })
  nextAttemptAt: Date | null;

  @Column({ name: 'response_status', type: 'integer', nullable: true })
  responseStatus: number | null;

  @Column({ type: 'text', nullable: true })
  error: string | null;

  @TimestampColumn({ name: 'created_at', default: () => 'now()' })
  createdAt: Date;

  @TimestampColumn({ name: 'finished_at', nullable: true })
  finishedAt: Date | null;
}

/** The last event that was turned into deliveries. */
@Entity('webhook_progress')
@Check('webhook_progress_id_check', 'id = 1')
export class WebhookProgress {
  @Column({ type: 'integer', primary: true })
  id: number;

  @BigIntColumn({ name: 'last_event_id' })
  lastEventId: number;
}
