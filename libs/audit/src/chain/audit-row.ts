import type { AuditActorType, AuditLogView } from '@gatehouse/contracts';
import type { SealedFields } from './audit-chain.js';
import type { AuditEntry } from './audit-entry.js';

/** A row of audit_logs: its view, with the actor in three columns. */
export interface AuditRow extends Omit<AuditLogView, 'actor' | 'created_at'> {
  created_at: Date;
  actor_type: AuditActorType;
  actor_id: number | null;
  actor_name: string | null;
  actor_user: string | null;
}

export type UnsealedRow = Omit<AuditRow, 'hash'>;

export function toRow(entry: AuditEntry, id: number, prevHash: string): UnsealedRow {
  return {
    id,
    created_at: entry.at,
    actor_type: entry.actor.type,
    actor_id: entry.actor.id,
    actor_name: entry.actor.name,
    actor_user: entry.actor.user ?? null,
    ip: entry.ip,
    user_agent: entry.userAgent,
    request_id: entry.requestId,
    method: entry.method,
    path: entry.path,
    action: entry.action,
    resource_type: entry.resourceType,
    resource_id: entry.resourceId,
    resource_name: entry.resourceName,
    status: entry.status,
    success: entry.success,
    error: entry.error,
    changes: entry.changes,
    duration_ms: entry.durationMs,
    prev_hash: prevHash,
  };
}

/** All of a row except its own hash, and without an empty field that older rows do not have. */
export function sealedFields(row: UnsealedRow & { hash?: string }): SealedFields {
  const { hash: _hash, actor_user: user, ...fields } = row;
  return { ...fields, ...(user !== null && { actor_user: user }), created_at: row.created_at.toISOString() };
}

export function toAuditLogView(row: AuditRow): AuditLogView {
  const { actor_type, actor_id, actor_name, actor_user, created_at, id, ...rest } = row;
  return {
    id,
    created_at: created_at.toISOString(),
    actor: { type: actor_type, id: actor_id, name: actor_name, user: actor_user },
    ...rest,
  };
}
