import type { Page } from './page.js';

/**
 * `password`: a login of the one administrator; `session`: a user's session; `anonymous`: the request had no valid
 * credentials.
 */
export const AUDIT_ACTOR_TYPES = ['password', 'session', 'api_key', 'system', 'anonymous'] as const;
export type AuditActorType = (typeof AUDIT_ACTOR_TYPES)[number];

/** A field that a call changed; secrets are `***` on both sides. */
export interface AuditChange {
  /** Path inside the resource, separated by dots. */
  field: string;
  before: AuditValue;
  after: AuditValue;
}
export type AuditValue = string | number | boolean | null;

/** Who made the change. */
export interface AuditActorView {
  type: AuditActorType;
  /** Id of the user or the API key. */
  id: number | null;
  /** Name of the user or the API key. */
  name: string | null;
  /** The owner of the API key, if keys belong to users. */
  user: string | null;
}

/** One row of `GET /audit-logs`. */
export interface AuditLogView {
  id: number;
  created_at: string;
  actor: AuditActorView;
  ip: string | null;
  user_agent: string | null;
  request_id: string | null;
  /** Null for changes that the service made itself. */
  method: string | null;
  /** Without the query. */
  path: string | null;
  /** Such as `subscription.create`. */
  action: string;
  resource_type: string | null;
  resource_id: string | null;
  resource_name: string | null;
  /** HTTP status of the answer. */
  status: number | null;
  success: boolean;
  /** Code and message of a failed call. */
  error: string | null;
  changes: AuditChange[];
  duration_ms: number | null;
  prev_hash: string;
  /** HMAC-SHA-256 over the row and `prev_hash`, hex. */
  hash: string;
}

/** `GET /audit-logs`, newest first. */
export interface AuditLogPage extends Page<AuditLogView> {
  /** Pass it as `cursor` for the next page; null on the last page. */
  next_cursor: string | null;
}

/** `witness_…`: the chain is consistent, but the witness outside the database recorded other rows. */
export type AuditBreakReason =
  | 'row_missing'
  | 'row_changed'
  | 'order_changed'
  | 'end_missing'
  | 'head_changed'
  | 'witness_ahead'
  | 'witness_differs';

/** A place where the chain is broken. */
export interface AuditBreak {
  id: number;
  reason: AuditBreakReason;
}

/** What the witness outside the database reports about the log. */
export interface AuditWitnessView {
  /**
   * `behind`: it has not recorded the newest rows; `restored`: a backup explains missing rows; `unreadable`: its file
   * cannot be read; `off`: there is none.
   */
  status: 'confirms' | 'behind' | 'restored' | 'contradicts' | 'unreadable' | 'off';
  /** The last row that it recorded. */
  last_id: number | null;
  /** When it recorded that row. */
  at: string | null;
  /** The reason for any status except `confirms`. */
  detail: string | null;
}

/** `GET /audit-logs/verify`. */
export interface AuditVerification {
  ok: boolean;
  /** The number of rows checked. */
  checked: number;
  /** The first row that retention has left. */
  first_id: number;
  last_id: number;
  /** Keep it elsewhere to detect that the whole log was restored to an earlier state. */
  last_hash: string;
  /** The first place where the chain is broken; null if it is intact. */
  broken: AuditBreak | null;
  witness: AuditWitnessView;
  duration_ms: number;
}
