import type { AuthPolicyView } from './auth-policy.js';
import type { TunnelClientView } from './client.js';
import type { DomainView } from './domain.js';
import type { HostView } from './host.js';
import type { IpRuleView } from './ip-rule.js';
import type { TunnelView } from './tunnel.js';
import type { TunnelUserView } from './user.js';
import type { WebhookView } from './webhook.js';

/** What became of one line of a configuration. */
export interface TransferLine {
  /** Name of the file. */
  file: string;
  /** Where in the file, such as `proxies[0].remotePort`. */
  path: string;
  /** `taken`: it is here now. `no_counterpart`: the gateway has no such thing. `refused`: it cannot be. */
  outcome: 'taken' | 'no_counterpart' | 'refused';
  /** As what it was taken, or why it was not. */
  message: string;
}

/** A resource that an import made, or would make. */
export interface TransferredResource {
  kind: 'client' | 'tunnel' | 'host';
  /** Null: not made. */
  id: number | null;
  name: string;
  /** Where it came from. */
  file: string;
  path: string;
  /** Of a client, what its agent needs; of a private tunnel, what its visitors need. Shown once. */
  key: string | null;
  /** Starts the agent of a client. */
  command: string | null;
}

export interface TransferImportView {
  /** False: a dry run, or something was refused; nothing has changed. */
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

// An archive has what people set up: not what the gateway counts, finds out or works out from it.

export interface ExportedUser extends Omit<TunnelUserView, 'totp'> {
  /** Only where hashes were asked for. */
  password_hash?: string;
}

type ClientState = 'expired' | 'online' | 'agent' | 'agents' | 'rate_limit_bytes_per_second' | 'previous_key_until';

export interface ExportedClient extends Omit<TunnelClientView, ClientState | Flow> {
  /** Hash of the agent's key; only where hashes were asked for. */
  verify_key?: string;
}

export type ExportedTunnel = Omit<TunnelView, 'run_status' | 'error' | Flow>;

export interface ExportedHost extends Omit<HostView, 'has_cert' | Flow> {
  cert_path: string | null;
  key_path: string | null;
}

export type ExportedIpRule = IpRuleView;

export interface ExportedPolicy extends Omit<AuthPolicyView, 'has_password' | 'users' | 'oauth'> {
  /** Type `oauth`: the registration, without its secret. */
  oauth: Record<string, unknown> | null;
  /** Type `oauth`: there was one. */
  has_secret: boolean;
  /** Hashes of what visitors say; only where hashes were asked for. */
  password?: string;
}

/** Without the record that proves it. */
export type ExportedDomain = Omit<DomainView, 'status' | 'record'>;

export type ExportedWebhook = Omit<WebhookView, 'failing_since'>;

type Flow = 'inlet_flow' | 'export_flow';

/** Everything that people have set up. */
export interface TransferArchive {
  format: 'gatehouse.tunnel-gateway';
  version: 1;
  /** @format date-time */
  exported_at: string;
  /** Whether hashes of passwords and keys are in it. */
  hashes: boolean;
  users: ExportedUser[];
  clients: ExportedClient[];
  tunnels: ExportedTunnel[];
  hosts: ExportedHost[];
  ip_rules: ExportedIpRule[];
  auth_policies: ExportedPolicy[];
  domains: ExportedDomain[];
  webhooks: ExportedWebhook[];
}

export interface TransferRestoreBody {
  /** What GET /transfer/export answered. */
  archive: Record<string, unknown>;
}

/** What could not be as it was. */
export interface RestoredRow {
  kind: 'user' | 'client' | 'tunnel' | 'host' | 'ip_rule' | 'auth_policy' | 'domain' | 'webhook';
  /**
   * In the archive.
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
  /** Rows with another id, with a new secret, or with something to know. */
  changed: RestoredRow[];
}
