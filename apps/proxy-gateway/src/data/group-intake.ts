import type { NameFilter } from '@gatehouse/subscription-formats';

/** Nodes that a group of a profile takes from subscriptions: the profile's own nodes, and those of its providers. */
export interface GroupIntake {
  sources: readonly { subscriptionId: number; filter: NameFilter }[];
  /** Of the group, applied after that of the source. */
  filter: NameFilter;
}
