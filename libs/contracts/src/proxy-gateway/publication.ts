import type { ItemList } from './page.js';
import type { PublicationRemark, PublicationTarget } from './publication-target.js';

/** `nodes`: the nodes alone. `countries`: a group for each country, and no rules. `rules`: the groups and rules in force here. */
export const PUBLICATION_TEMPLATES = ['nodes', 'countries', 'rules'] as const;
export type PublicationTemplate = (typeof PUBLICATION_TEMPLATES)[number];

/** `alive`: the last test succeeded. `not_dead`: it did, or there was none. */
export const PUBLICATION_HEALTH = ['alive', 'not_dead'] as const;
export type PublicationHealth = (typeof PUBLICATION_HEALTH)[number];

export const PUBLICATION_ORDERS = ['name', 'country', 'type', 'delay'] as const;
export type PublicationOrder = (typeof PUBLICATION_ORDERS)[number];

/** What makes two nodes one: the place that they connect to, or the name at this point of the chain. */
export const PUBLICATION_IDENTITIES = ['server', 'name'] as const;
export type PublicationIdentity = (typeof PUBLICATION_IDENTITIES)[number];

export const PUBLICATION_STEPS = ['keep', 'drop', 'rename', 'sort', 'dedupe', 'limit'] as const;
export type PublicationStepKind = (typeof PUBLICATION_STEPS)[number];

/** One step of the chain. Steps run in their order, each over what the one before left. */
export interface PublicationStep {
  do: PublicationStepKind;
  /** `keep`, `drop`: a pattern that occurs in the name, ignoring case. Of the conditions of a step all must hold. */
  name?: string;
  types?: string[];
  /** ISO 3166-1 codes; `ZZ`: unknown. */
  countries?: string[];
  tags?: string[];
  health?: PublicationHealth;
  /** `rename`: every occurrence is replaced, ignoring case. */
  pattern?: string;
  /** `rename`: text, in which `$1` to `$9` are groups of the pattern and `$$` is `$`; absent: nothing. */
  replacement?: string;
  /** `sort`. */
  by?: PublicationOrder;
  descending?: boolean;
  /** `dedupe`: the first of each stays. */
  same?: PublicationIdentity;
  /** `limit`: how many of the first stay. */
  count?: number;
}

/** Which nodes go in. Without any field: every node that is enabled. With several: nodes that one of them names. */
export interface PublicationSources {
  subscription_ids?: number[];
  tags?: string[];
  /** Nodes that were added by hand. */
  manual?: boolean;
}

/** What a publication contains. */
export interface PublicationDefinition {
  sources?: PublicationSources;
  steps?: PublicationStep[];
  /** Default `countries`. */
  template?: PublicationTemplate;
  /** Documents of one's own that stand in place of `template`: at most one for each target. */
  template_ids?: number[];
  /**
   * The quota that clients are shown (`Subscription-Userinfo`): `none`, the `sum` of the subscriptions that nodes come
   * from, or the id of one subscription in digits. Default `sum`.
   */
  userinfo?: string;
  /** How often clients are asked to fetch it again. Default 43,200. */
  update_interval_sec?: number;
}

/** A publication in `GET /publications`, without its token. */
export interface PublicationView extends Required<PublicationDefinition> {
  id: number;
  name: string;
  enabled: boolean;
  /** Of its token. */
  last_four: string;
  expires_at: string | null;
  /** For all replicas together; null: no limit of its own. */
  fetches_per_hour: number | null;
  /** Addresses and networks that may fetch it; empty: all. */
  allowed_addresses: string[];
  /** How often it was fetched, including answers that it has not changed. */
  fetch_count: number;
  /** Written with a delay of up to a minute. */
  last_used_at: string | null;
  last_used_ip: string | null;
  created_at: string;
  updated_at: string;
}

/** `GET /publications`. */
export type PublicationList = ItemList<PublicationView>;

/** `POST /publications` and `POST /publications/{id}/token`: the only answers with the token. */
export interface PublicationCreated extends PublicationView {
  token: string;
  /** The path of its address, below this service. */
  path: string;
}

/** `DELETE /publications/{id}`. */
export interface PublicationDeleted {
  id: number;
  deleted: true;
}

/** `POST /publications/preview`. */
export interface PublicationPreview {
  target: PublicationTarget;
  /** Nodes that the sources name, and those that the steps left. */
  sources_total: number;
  selected_total: number;
  /** Nodes in the document. */
  nodes: number;
  /** Names of the first of them, as they are before the target names them apart. */
  names: string[];
  remarks: PublicationRemark[];
  /** The document, with the credentials of the nodes; the first 200,000 characters. */
  document: string;
  truncated: boolean;
}
