export const RULE_SET_TYPES = ['http', 'file', 'inline'] as const;
/** Where the entries come from: an address, a file in the service's folder of rule sets, or the request itself. */
export type RuleSetType = (typeof RULE_SET_TYPES)[number];

export const RULE_SET_BEHAVIORS = ['domain', 'ipcidr', 'classical'] as const;
/** What an entry is: a domain in Clash wildcards, a prefix, or a rule line without its target. */
export type RuleSetBehavior = (typeof RULE_SET_BEHAVIORS)[number];

export const RULE_SET_FORMATS = ['yaml', 'text', 'mrs'] as const;
export type RuleSetFormat = (typeof RULE_SET_FORMATS)[number];

/** `warning`: in use with entries left out. `error`: the last attempt failed; what was there before stays in use. */
export type RuleSetStatus = 'never' | 'ok' | 'warning' | 'error';

/** An entry that was left out. */
export interface RuleSetEntryError {
  /** From 1; null where the format has no lines. */
  line: number | null;
  input: string;
  message: string;
}

export interface RuleSetView {
  id: number;
  /** What `RULE-SET,<name>` refers to; unique. */
  name: string;
  type: RuleSetType;
  behavior: RuleSetBehavior;
  format: RuleSetFormat;
  /** `http` only. Query and credentials read `***` for read-only credentials. */
  url: string | null;
  /** `file` only, relative to the folder of rule sets. */
  path: string | null;
  interval_sec: number;
  enabled: boolean;
  allow_private: boolean;
  /** Where its own rule sends what is in the set; null: only rules that name the set use it. */
  target: string | null;
  target_name: string | null;
  no_resolve: boolean;
  /** Among the rules of other sets, lower goes first; null without a target. */
  priority: number | null;
  rule_id: number | null;
  entry_count: number;
  skipped_count: number;
  /** The first hundred of what was skipped. */
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
  /** All of an `inline` set, the first hundred of any other. */
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
  /** `failed`: the entries are what they were before. */
  status: 'updated' | 'not_modified' | 'failed';
  reason: RuleSetRefreshReason | null;
  /** One sentence about `reason`. */
  message: string | null;
  http_status: number | null;
  bytes: number;
  duration_ms: number;
  entries: number;
  skipped: number;
  /** At most a hundred. */
  errors: RuleSetEntryError[];
}
