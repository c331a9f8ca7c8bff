/** The subject of an event. A folder that needs another word adds it here. */
export type AuditEventType =
  | 'app.created'
  | 'app.updated'
  | 'app.reviewed'
  | 'app.disabled'
  | 'app.deleted'
  | 'app.unbound'
  | 'app.proposed'
  | 'app.proposal_accepted'
  | 'app.proposal_refused'
  | 'app.secret.created'
  | 'app.secret.revoked'
  | 'app.test_key.created'
  | 'app.test_key.revoked'
  | 'app.webhook.created'
  | 'app.webhook.updated'
  | 'app.webhook.deleted'
  | 'app.webhook.secret_replaced'
  | 'grant.created'
  | 'grant.revoked'
  | 'code.replayed'
  | 'refresh.reused'
  | 'key.created'
  | 'key.revoked'
  | 'key.used_from_new_ip'
  | 'endpoint.disabled'
  | 'endpoint.enabled'
  | 'mail.read'
  | 'quota.saved'
  | 'quota.removed'
  | (`${'unlock' | 'share' | 'risk' | 'points' | 'user'}.${string}` & {});

export interface AuditEvent {
  readonly type: AuditEventType;
  /** User whom the event is about, who can read it. */
  readonly userId?: number | null | undefined;
  /** User who acted, if it was another one. */
  readonly actorId?: number | null | undefined;
  readonly applicationId?: number | null | undefined;
  readonly credentialId?: number | null | undefined;
  readonly grantId?: number | null | undefined;
  readonly ip?: string | null | undefined;
  /** No secrets: everyone who can read the event sees them. */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A transaction: an EntityManager or a client of pg. */
export interface SqlRunner {
  query(sql: string, parameters?: unknown[]): Promise<unknown>;
}

/** Writes an event into the append-only trail, in the same transaction as the change that it records. */
export async function recordEvent(tx: SqlRunner, event: AuditEvent): Promise<void> {
  await tx.query(
    `INSERT INTO audit_events (type, user_id, actor_id, application_id, credential_id, grant_id, ip, details)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      event.type,
      event.userId ?? null,
      event.actorId ?? null,
      event.applicationId ?? null,
      event.credentialId ?? null,
      event.grantId ?? null,
      event.ip ?? null,
      JSON.stringify(event.details ?? {}),
    ],
  );
}
