import type { NameFilter } from '@gatehouse/subscription-formats';

/** Nodes that a group of a profile takes from subscriptions: the profile's own nodes, and those of its providers. */
export interface GroupIntake {
  sources: readonly {
    subscriptionId: number;
    filter: NameFilter;
    /** By name, as mihomo takes the nodes of the profile itself; otherwise in the order of the document. */
    byName?: boolean;
  }[];
  /** Of the group, applied after that of the source. */
  filter: NameFilter;
  /** The filter's patterns say no order of preference. */
  asListed?: boolean;
}
