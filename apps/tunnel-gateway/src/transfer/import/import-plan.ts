import type { Leaf } from './fields.js';
import type { Place } from './import-report.js';

/** A rule about addresses of a client's visitors. */
export interface PlannedRule extends Place {
  type: 'allow' | 'deny';
  pattern: string;
  kind: 'exact' | 'cidr' | 'wildcard' | 'range' | 'country';
}

/** A client that is to be made; its tunnels and hosts name it by `key`. */
export interface PlannedClient extends Place {
  key: string;
  name: string;
  leaves: readonly Leaf[];
  /** As POST /clients takes it. */
  body: Record<string, unknown>;
  rules: readonly PlannedRule[];
}

/** A tunnel or a host that is to be made. */
export interface PlannedResource extends Place {
  kind: 'tunnel' | 'host';
  name: string;
  client: string;
  leaves: readonly Leaf[];
  /** As POST /tunnels or /hosts takes it, without its client. */
  body: Record<string, unknown>;
  /** Who may come in: by a policy of type `basic`, or where there is no HTTP by their passwords. */
  accounts: readonly { username: string; password: string }[];
}

/** What an import is about to make, in this order. */
export interface ImportPlan {
  clients: PlannedClient[];
  resources: PlannedResource[];
}
