import type { Page } from './page.js';

/** `password`: a login of the one administrator; `session`: of a user; `anonymous`: no valid credential came with the request. */
export const AUDIT_ACTOR_TYPES = ['password', 'session', 'api_key', 'system', 'anonymous'] as const;
export type AuditActorType = (typeof AUDIT_ACTOR_TYPES)[number];

/** One field that a call changed; secrets are `***` on both sides. */
export interface AuditChange {
  /** Path inside the resource, with dots. */
  field: string;
  before: AuditValue;
  after: AuditValue;
}
export type AuditValue = string | number | boolean | null;

/** Who did something. */
export interface AuditActorView {
  type: AuditActorType;
  /** Of the user or the API key. */
  id: number | null;
  /** Of the user or the API key. */
  name: string | null;
  /** Whose API key it is, where keys belong to users. */
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
  /** Null for what the service did by itself. */
  method: string | null;
  /** Without its query. */
  path: string | null;
  /** Such as `subscription.create`. */
  action: string;
  resource_type: string | null;
  resource_id: string | null;
  resource_name: string | null;
  /** HTTP status of the answer. */
  status: number | null;
  success: boolean;
  /** Code and text of the answer to a call that failed. */
  error: string | null;
  changes: AuditChange[];
  duration_ms: number | null;
  prev_hash: string;
  /** HMAC-SHA-256 over the row and `prev_hash`, hex. */
  hash: string;
}

/** `GET /audit-logs`, newest first. */
export interface AuditLogPage extends Page<AuditLogView> {
  /** Hand it back as `cursor`; null on the last page. */
  next_cursor: string | null;
}

/** `witness_…`: the chain fits together, but the witness outside the database saw other rows. */
export type AuditBreakReason =
  | 'row_missing'
  | 'row_changed'
  | 'order_changed'
  | 'end_missing'
  | 'head_changed'
  | 'witness_ahead'
  | 'witness_differs';

/** A place where the chain does not hold. */
export interface AuditBreak {
  id: number;
  reason: AuditBreakReason;
}

/** What the witness outside the database says of the log. */
export interface AuditWitnessView {
  /**
   * `behind`: it has not written the newest rows; `restored`: a backup explains what is missing; `unreadable`: its file cannot be
   * read; `off`: there is none.
   */
  status: 'confirms' | 'behind' | 'restored' | 'contradicts' | 'unreadable' | 'off';
  /** The last row that it knows. */
  last_id: number | null;
  /** When it wrote that down. */
  at: string | null;
  /** Why it is not `confirms`. */
  detail: string | null;
}

/** `GET /audit-logs/verify`. */
export interface AuditVerification {
  ok: boolean;
  /** Rows looked at. */
  checked: number;
  /** First row that retention has left. */
  first_id: number;
  last_id: number;
  /** Kept elsewhere it also shows that the whole log was put back to an earlier state. */
  last_hash: string;
  /** The first place where the chain does not hold; null while it holds. */
  broken: AuditBreak | null;
  witness: AuditWitnessView;
  duration_ms: number;
}
