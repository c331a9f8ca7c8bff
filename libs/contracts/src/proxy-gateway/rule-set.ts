export const RULE_SET_TYPES = ['http', 'file', 'inline'] as const;
/** The source of the entries: a URL, a file in the service's folder of rule sets, or the request itself. */
export type RuleSetType = (typeof RULE_SET_TYPES)[number];

export const RULE_SET_BEHAVIORS = ['domain', 'ipcidr', 'classical'] as const;
/** The kind of entries: domains in Clash wildcards, prefixes, or rule lines without a target. */
export type RuleSetBehavior = (typeof RULE_SET_BEHAVIORS)[number];

/** `sing-box`: its source form, in JSON, or its binary one (`.srs`). `domain-set`: Surge's, where a leading dot includes the domain itself. */
export const RULE_SET_FORMATS = ['yaml', 'text', 'mrs', 'sing-box', 'domain-set'] as const;
export type RuleSetFormat = (typeof RULE_SET_FORMATS)[number];

/** `warning`: in use with some entries left out. `error`: the last attempt failed; the previous entries stay in use. */
export type RuleSetStatus = 'never' | 'ok' | 'warning' | 'error';

/** An entry that was left out. */
export interface RuleSetEntryError {
  /** From 1; null for formats without lines. */
  line: number | null;
  input: string;
  message: string;
}

export interface RuleSetView {
  id: number;
  /** The name used in `RULE-SET,<name>`; unique. */
  name: string;
  type: RuleSetType;
  behavior: RuleSetBehavior;
  format: RuleSetFormat;
  /** For `http` only. Query and credentials are `***` for read-only credentials. */
  url: string | null;
  /** For `file` only, relative to the folder of rule sets. */
  path: string | null;
  interval_sec: number;
  enabled: boolean;
  allow_private: boolean;
  /** The target of the set's own rule; null: only rules that name the set use it. */
  target: string | null;
  target_name: string | null;
  no_resolve: boolean;
  /** Position among the rules of other sets, lower goes first; null without a target. */
  priority: number | null;
  rule_id: number | null;
  entry_count: number;
  skipped_count: number;
  /** The first hundred skipped entries. */
  errors: RuleSetEntryError[];
  status: RuleSetStatus;
  last_checked_at: string | null;
  /** When the entries last changed. */
  last_updated_at: string | null;
  last_success_at: string | null;
  next_refresh_at: string | null;
  consecutive_failures: number;
  last_status_code: number | null;
  last_error: { code: string; message: string } | null;
  etag: string | null;
  last_modified: string | null;
  content_sha256: string | null;
  content_bytes: number | null;
  created_at: string;
  updated_at: string;
}

/** `GET /rule-sets/{id}`. */
export interface RuleSetDetail extends RuleSetView {
  /** All entries of an `inline` set, the first hundred of any other. */
  entries: string[];
}

/** `DELETE /rule-sets/{id}`. */
export interface RuleSetDeletedResponse {
  id: number;
  deleted: true;
  /** Rules that name the set and are skipped from now on. */
  rules_left: number;
}

export type RuleSetRefreshReason =
  | 'empty_result'
  | 'http_status'
  | 'timeout'
  | 'too_large'
  | 'parse_error'
  | 'blocked_address'
  | 'network_error'
  | 'too_many_redirects'
  | 'bad_encoding'
  | 'file_error'
  | 'superseded';

/** `POST /rule-sets/{id}/refresh`. */
export interface RuleSetRefreshResult {
  rule_set_id: number;
  /** `failed`: the entries are unchanged. */
  status: 'updated' | 'not_modified' | 'failed';
  reason: RuleSetRefreshReason | null;
  /** A sentence about `reason`. */
  message: string | null;
  http_status: number | null;
  bytes: number;
  duration_ms: number;
  entries: number;
  skipped: number;
  /** At most a hundred. */
  errors: RuleSetEntryError[];
}
