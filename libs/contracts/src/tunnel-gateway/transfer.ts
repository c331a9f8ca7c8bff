import type { AddressListView } from './address-list.js';
import type { AuthPolicyView } from './auth-policy.js';
import type { TunnelClientView } from './client.js';
import type { DomainView } from './domain.js';
import type { HostView } from './host.js';
import type { IpRuleView } from './ip-rule.js';
import type { TunnelView } from './tunnel.js';
import type { TunnelUserView } from './user.js';
import type { WebhookView } from './webhook.js';

/** The result for one line of a configuration. */
export interface TransferLine {
  /** Name of the file. */
  file: string;
  /** Place in the file, such as `proxies[0].remotePort`. */
  path: string;
  /** `taken`: imported. `no_counterpart`: the gateway has nothing like it. `refused`: it is not possible here. */
  outcome: 'taken' | 'no_counterpart' | 'refused';
  /** What it was imported as, or why it was not. */
  message: string;
}

/** A resource that an import created or would create. */
export interface TransferredResource {
  kind: 'client' | 'tunnel' | 'host';
  /** Null if it was not created. */
  id: number | null;
  name: string;
  /** Its origin. */
  file: string;
  path: string;
  /** For a client the key of its agent, for a private tunnel the key of its visitors. Shown once. */
  key: string | null;
  /** The command that starts the agent of a client. */
  command: string | null;
}

export interface TransferImportView {
  /** False for a dry run, or if something was refused: nothing was changed. */
  applied: boolean;
  dry_run: boolean;
  /** @asType integer */
  taken: number;
  /** @asType integer */
  no_counterpart: number;
  /** @asType integer */
  refused: number;
  resources: TransferredResource[];
  lines: TransferLine[];
  /**
   * The number of lines that are counted above but not listed.
   * @asType integer
   */
  lines_left_out: number;
}

// An archive has what people configured, but no counters and nothing that the gateway measures or computes.

export interface ExportedUser extends Omit<TunnelUserView, 'totp' | QuotaState> {
  /** Only if hashes were requested. */
  password_hash?: string;
}

type ClientState = 'expired' | 'online' | 'agent' | 'agents' | 'rate_limit_bytes_per_second' | 'previous_key_until';

export interface ExportedClient extends Omit<TunnelClientView, ClientState | QuotaState | Flow> {
  /** Hash of the agent's key; only if hashes were requested. */
  verify_key?: string;
}

export type ExportedTunnel = Omit<TunnelView, 'run_status' | 'error' | QuotaState | Flow>;

export interface ExportedHost extends Omit<HostView, 'has_cert' | 'targets' | Flow> {
  cert_path: string | null;
  key_path: string | null;
}

export type ExportedIpRule = IpRuleView;

/** Without what it has, which is fetched again. */
export type ExportedAddressList = Pick<
  AddressListView,
  'id' | 'name' | 'url' | 'allow_private' | 'interval_minutes' | 'created_at' | 'updated_at'
>;

export interface ExportedPolicy extends Omit<AuthPolicyView, 'has_password' | 'users' | 'oauth'> {
  /** For type `oauth`: the registration without its secret. */
  oauth: Record<string, unknown> | null;
  /** For type `oauth`: whether there was a secret. */
  has_secret: boolean;
  /** Hashes of passwords and tokens of visitors; only if hashes were requested. */
  password?: string;
}

/** A domain without the record that proves it. */
export type ExportedDomain = Omit<DomainView, 'status' | 'record'>;

export type ExportedWebhook = Omit<WebhookView, 'failing_since'>;

type QuotaState = 'period_traffic' | 'quota_used_up' | 'quota_resets_at';
type Flow = 'inlet_flow' | 'export_flow';

/** Everything that people configured. */
export interface TransferArchive {
  format: 'gatehouse.tunnel-gateway';
  version: 1;
  /** @format date-time */
  exported_at: string;
  /** Whether it contains hashes of passwords and keys. */
  hashes: boolean;
  users: ExportedUser[];
  clients: ExportedClient[];
  tunnels: ExportedTunnel[];
  hosts: ExportedHost[];
  address_lists: ExportedAddressList[];
  ip_rules: ExportedIpRule[];
  auth_policies: ExportedPolicy[];
  domains: ExportedDomain[];
  webhooks: ExportedWebhook[];
}

export interface TransferRestoreBody {
  /** The answer of GET /transfer/export. */
  archive: Record<string, unknown>;
}

/** A resource that could not be restored exactly. */
export interface RestoredRow {
  kind: 'user' | 'client' | 'tunnel' | 'host' | 'ip_rule' | 'auth_policy' | 'domain' | 'webhook' | 'address_list';
  /**
   * Its id in the archive.
   * @asType integer
   */
  id: number;
  /** @asType integer */
  new_id: number;
  note: string | null;
  /** A newly created key, secret or password; shown once. */
  secret: string | null;
}

export interface TransferRestoreView {
  /** @asType integer */
  restored: number;
  /** Resources with a different id, a new secret or a remark. */
  changed: RestoredRow[];
}
