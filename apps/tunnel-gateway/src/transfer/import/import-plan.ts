import type { Leaf } from './fields.js';
import type { Place } from './import-report.js';

/** An address rule for a client's visitors. */
export interface PlannedRule extends Place {
  type: 'allow' | 'deny';
  pattern: string;
  kind: 'exact' | 'cidr' | 'wildcard' | 'range' | 'country';
}

/** A client to create; its tunnels and hosts refer to it by `key`. */
export interface PlannedClient extends Place {
  key: string;
  name: string;
  leaves: readonly Leaf[];
  /** Body of POST /clients. */
  body: Record<string, unknown>;
  rules: readonly PlannedRule[];
}

/** A tunnel or a host to create. */
export interface PlannedResource extends Place {
  kind: 'tunnel' | 'host';
  name: string;
  client: string;
  leaves: readonly Leaf[];
  /** Body of POST /tunnels or /hosts, without the client. */
  body: Record<string, unknown>;
  /** Admitted users: by a policy of type `basic` or, without HTTP, by their passwords. */
  accounts: readonly { username: string; password: string }[];
}

/** What an import creates, in this order. */
export interface ImportPlan {
  clients: PlannedClient[];
  resources: PlannedResource[];
}
