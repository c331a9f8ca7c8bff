export const SUBSCRIPTION_TYPES = ['auto', 'clash', 'links'] as const;
export type SubscriptionType = (typeof SUBSCRIPTION_TYPES)[number];

/** Who set the interval: a user, the provider's `profile-update-interval`, or nobody. */
export type IntervalSource = 'user' | 'provider' | 'default';

/** `warning`: the last reply was used with some entries left out, or refused so that the previous nodes stay. */
export type SubscriptionStatus = 'never' | 'ok' | 'warning' | 'error';

/** The quota as stated by the provider, in bytes; null if it is not stated. */
export interface SubscriptionTraffic {
  upload: number | null;
  download: number | null;
  total: number | null;
  remaining: number | null;
  used_percent: number | null;
  expire_at: string | null;
}

export interface SubscriptionProfile {
  title: string | null;
  web_page_url: string | null;
  support_url: string | null;
  update_interval_hours: number | null;
  announce: string | null;
  /** Names of pseudo-nodes that only carry a message ("remaining traffic", "expires"). */
  notices: string[];
}

export interface SubscriptionView {
  id: number;
  name: string;
  /** Query and credentials are `***` for read-only credentials. */
  url: string;
  type: SubscriptionType;
  interval_sec: number;
  interval_source: IntervalSource;
  enabled: boolean;
  user_agent: string | null;
  allow_private: boolean;
  /** Whether its whole profile is taken: groups, rules and providers, not only its nodes. */
  bring_rules: boolean;
  /** The subscription whose profile names this one as a proxy provider; null for all other subscriptions. */
  profile_id: number | null;
  detected_type: string | null;
  node_count: number;
  /** Nodes whose last test succeeded. */
  alive_count: number;
  /** Entries of the last used reply that repeat a node. */
  duplicate_count: number;
  skipped_count: number;
  status: SubscriptionStatus;
  last_checked_at: string | null;
  /** When a reply last changed the nodes. */
  last_updated_at: string | null;
  last_success_at: string | null;
  /** Null while disabled; in the past while a due refresh is waiting. */
  next_refresh_at: string | null;
  consecutive_failures: number;
  last_status_code: number | null;
  last_error: { code: string; message: string } | null;
  etag: string | null;
  last_modified: string | null;
  content_sha256: string | null;
  content_bytes: number | null;
  traffic: SubscriptionTraffic | null;
  profile: SubscriptionProfile | null;
  created_at: string;
  updated_at: string;
}

export type RefreshStatus = 'updated' | 'not_modified' | 'kept_previous' | 'failed';

/** Why a reply was not used. The previous nodes stay in every case. */
export const REFRESH_REASONS = [
  'empty_result',
  'html_response',
  'shrunk_below_threshold',
  'http_status',
  'timeout',
  'too_large',
  'parse_error',
  'blocked_address',
  'network_error',
  'too_many_redirects',
  'bad_encoding',
  'superseded',
] as const;
export type RefreshReason = (typeof REFRESH_REASONS)[number];

export interface SkippedEntry {
  /** From 1; null for formats without lines. */
  line: number | null;
  name: string | null;
  reason: string;
  message: string;
}

/** The result for the rules of a subscription's document. */
export interface BroughtRules {
  kept: number;
  added: number;
  removed: number;
  /** Lines that this kernel does not support. */
  skipped: number;
}

export interface RefreshResult {
  subscription_id: number;
  status: RefreshStatus;
  reason: RefreshReason | null;
  /** A sentence about `reason`. */
  message: string | null;
  http_status: number | null;
  /** Size of the body as received, before decompression. */
  bytes: number;
  duration_ms: number;
  /** Whether the reply came directly from the provider or through our own kernel. */
  via: 'direct' | 'proxy';
  parsed: number;
  /** Nodes that are new to this subscription. */
  added: number;
  /** Nodes with a new configuration that keep their id. */
  updated: number;
  retained: number;
  removed: number;
  duplicates: number;
  /** Pseudo-nodes that only carry a message. */
  ignored: number;
  skipped: number;
  /** At most 100 of them. */
  skipped_entries: SkippedEntry[];
  traffic: SubscriptionTraffic | null;
  /** Null if they were not requested, or the reply was not used. */
  rules: BroughtRules | null;
}

/** `DELETE /subscriptions/{id}`. */
export interface SubscriptionDeletedResponse {
  id: number;
  deleted: true;
  /** Nodes that no other source contained. */
  removed_nodes: number;
}
