import { CreatedAt, UpdatedAt } from '@gatehouse/persistence';
import type { ProfileReport } from '@gatehouse/contracts';
import { Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { SubscriptionEntity } from './subscription.entity.js';

/** What a profile says about names and sniffing. In force beneath the gateway's own settings. */
export interface ProfileOverlay {
  nameservers: string[];
  bootstrap: string[];
  policy: Record<string, string[]>;
  hosts: Record<string, string[]>;
  /** Null: as without the profile. */
  sniffingPorts: number[] | null;
}

/** Reasons are stored as codes; their texts depend on the reader. */
export type StoredReport = {
  sections: ProfileReport['sections'];
  notes: Omit<ProfileReport['notes'][number], 'message'>[];
};

/** A profile that was taken with a subscription; its groups, sets and rules are rows of their own. */
@Entity('profiles')
export class ProfileEntity {
  @PrimaryColumn({ name: 'subscription_id', type: 'bigint' })
  subscriptionId: number;

  @ManyToOne(() => SubscriptionEntity, { onDelete: 'CASCADE' })
  @JoinColumn({ name: 'subscription_id', foreignKeyConstraintName: 'profiles_subscription_fk' })
  subscription?: SubscriptionEntity;

  @Column({ type: 'jsonb' })
  overlay: ProfileOverlay;

  @Column({ type: 'jsonb' })
  report: StoredReport;

  @CreatedAt()
  createdAt: Date;

  @UpdatedAt()
  updatedAt: Date;
}
