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
   * Lines that are counted above and not listed.
   * @asType integer
   */
  lines_left_out: number;
}

interface ExportedRow {
  /** @asType integer */
  id: number;
  /** @format date-time */
  created_at: string | null;
  /** @format date-time */
  updated_at: string | null;
}

export interface ExportedUser extends ExportedRow {
  username: string;
  role: 'admin' | 'user' | 'viewer';
  status: 0 | 1;
  /** Only where hashes were asked for. */
  password_hash?: string;
}

export interface ExportedClient extends ExportedRow {
  name: string;
  /** @asType integer */
  owner_user_id: number;
  /** @asType integer */
  rate_limit: number;
  /** @asType integer */
  max_conn: number;
  /** @format date-time */
  expire_at: string | null;
  status: 0 | 1;
  encrypt: boolean;
  /** Hash of the agent's key; only where hashes were asked for. */
  verify_key?: string;
}

export interface ExportedTunnel extends ExportedRow {
  /** @asType integer */
  client_id: number;
  name: string | null;
  mode: string;
  listen_ip: string;
  /** @asType integer */
  listen_port: number;
  target_addr: string;
  status: 0 | 1;
  /** @asType integer */
  proxy_protocol: number;
  accept_proxy_protocol: boolean;
}

export interface ExportedHost extends ExportedRow {
  /** @asType integer */
  client_id: number;
  host: string;
  location: string;
  scheme: 'all' | 'http' | 'https';
  target_addr: string;
  cert_path: string | null;
  key_path: string | null;
  auto_https: 0 | 1;
  status: 0 | 1;
  rewrite_host: string | null;
  request_headers: Record<string, string>;
  response_headers: Record<string, string>;
}

export interface ExportedIpRule extends ExportedRow {
  scope: 'global' | 'console' | 'user' | 'client' | 'tunnel' | 'host';
  /** @asType integer */
  resource_id: number;
  type: 'allow' | 'deny';
  pattern: string;
  pattern_kind: 'exact' | 'cidr' | 'wildcard' | 'range' | 'country';
  /** @asType integer */
  priority: number;
  remark: string | null;
}

export interface ExportedPolicy extends ExportedRow {
  resource_type: 'tunnel' | 'host' | 'client';
  /** @asType integer */
  resource_id: number;
  type: 'password' | 'basic' | 'callback' | 'oauth';
  callback_url: string | null;
  enabled: 0 | 1;
  /** @asType integer */
  ttl_seconds: number;
  copy_headers: string[];
  allow_private: boolean;
  /** Type `oauth`: the registration, without its secret. */
  oauth: Record<string, unknown> | null;
  /** Type `oauth`: there was one. */
  has_secret: boolean;
  /** Hashes of what visitors say; only where hashes were asked for. */
  password?: string;
}

export interface ExportedWebhook extends ExportedRow {
  /** @asType integer */
  owner_user_id: number;
  name: string;
  url: string;
  event_types: string[];
  status: 0 | 1;
}

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
  webhooks: ExportedWebhook[];
}

export interface TransferRestoreBody {
  /** What GET /transfer/export answered. */
  archive: Record<string, unknown>;
}

/** What could not be as it was. */
export interface RestoredRow {
  kind: 'user' | 'client' | 'tunnel' | 'host' | 'ip_rule' | 'auth_policy' | 'webhook';
  /**
   * In the archive.
   * @asType integer
   */
  id: number;
  /** @asType integer */
  new_id: number;
  note: string | null;
  /** A key, a secret or a password that was made anew; shown once. */
  secret: string | null;
}

export interface TransferRestoreView {
  /** @asType integer */
  restored: number;
  /** Rows with another id, with a new secret, or with something to know. */
  changed: RestoredRow[];
}
