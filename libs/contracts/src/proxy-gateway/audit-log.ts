import type { Page } from './page.js';

/** `anonymous`: no valid credential came with the request. */
export const AUDIT_ACTOR_TYPES = ['password', 'api_key', 'system', 'anonymous'] as const;
export type AuditActorType = (typeof AUDIT_ACTOR_TYPES)[number];

/** One field that a call changed; secrets are `***` on both sides. */
export interface AuditChange {
  /** Path inside the resource, with dots. */
  field: string;
  before: AuditValue;
  after: AuditValue;
}
export type AuditValue = string | number | boolean | null;

/** One row of `GET /audit-logs`. */
export interface AuditLogView {
  id: number;
  created_at: string;
  actor: { type: AuditActorType; id: number | null; name: string | null };
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

export type AuditBreakReason = 'row_missing' | 'row_changed' | 'order_changed' | 'end_missing' | 'head_changed';

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
  broken: { id: number; reason: AuditBreakReason } | null;
  duration_ms: number;
}
