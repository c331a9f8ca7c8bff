import type { EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import type { ApplicationStatus } from '../credentials/credential-records.js';
import type { OpenScope } from '../credentials/caller.js';
import type { Application, AuthLevel, ProposedChange } from './application-rows.js';

/** The decision of an administrator. */
export interface ApplicationReview {
  readonly authLevel?: AuthLevel | undefined;
  readonly status?: ApplicationStatus | undefined;
  readonly scopes?: readonly OpenScope[] | undefined;
  readonly quotaProfile?: string | null | undefined;
  /** The decision about the owner's proposed change. */
  readonly proposal?: 'accept' | 'refuse' | undefined;
  /** `updatedAt` of the version that the administrator saw, so that nobody approves an unseen one. */
  readonly seenAt?: Date | undefined;
}

/** The changes that an owner can make. */
export interface ApplicationChange {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly redirectUris?: readonly string[] | undefined;
  readonly scopes?: readonly OpenScope[] | undefined;
  readonly requirePkce?: boolean | undefined;
  readonly ipAllow?: readonly string[] | undefined;
  readonly testUserIds?: readonly number[] | undefined;
  /** Calls without a user token act for the owner. */
  readonly boundToOwner?: boolean | undefined;
}

/** Statements that change an application whose row the transaction has locked. */

export async function writeChange(
  tx: EntityManager,
  id: number,
  change: ApplicationChange,
  proposed: ProposedChange | null,
): Promise<void> {
  await tx.query(
    `UPDATE applications SET name = coalesce($2, name), description = coalesce($3, description),
       allowed_scopes = coalesce($4, allowed_scopes), pkce_required = coalesce($5, pkce_required),
       ip_allow = coalesce($6, ip_allow), test_user_ids = coalesce($7, test_user_ids),
       bound_user_id = CASE $8::boolean WHEN true THEN owner_id WHEN false THEN NULL ELSE bound_user_id END,
       proposed = $9, updated_at = now()
     WHERE id = $1`,
    [
      id,
      change.name ?? null,
      change.description ?? null,
      change.scopes ?? null,
      change.requirePkce ?? null,
      change.ipAllow ?? null,
      change.testUserIds ?? null,
      change.boundToOwner ?? null,
      proposed === null ? null : JSON.stringify(proposed),
    ],
  );
  if (change.redirectUris !== undefined) await setRedirectUris(tx, id, change.redirectUris);
}

export async function writeReview(tx: EntityManager, id: number, review: ApplicationReview): Promise<void> {
  await tx.query(
    `UPDATE applications SET auth_level = coalesce($2, auth_level), status = coalesce($3, status),
       allowed_scopes = coalesce($4, allowed_scopes),
       quota_profile = CASE WHEN $5::boolean THEN $6 ELSE quota_profile END, updated_at = now()
     WHERE id = $1`,
    [
      id,
      review.authLevel ?? null,
      review.status ?? null,
      review.scopes ?? null,
      review.quotaProfile !== undefined,
      review.quotaProfile ?? null,
    ],
  );
}

/** Accepts or rejects an owner's proposed change. */
export async function settleProposal(
  tx: EntityManager,
  actorId: number,
  { id, ownerId, proposed }: Application,
  proposal: 'accept' | 'refuse',
): Promise<void> {
  const accepted = proposal === 'accept' ? proposed : null;
  await tx.query(
    `UPDATE applications SET proposed = NULL, name = coalesce($2, name), description = coalesce($3, description)
     WHERE id = $1`,
    [id, accepted?.name ?? null, accepted?.description ?? null],
  );
  if (accepted?.redirectUris !== undefined) await setRedirectUris(tx, id, accepted.redirectUris);
  await recordEvent(tx, {
    type: proposal === 'accept' ? 'app.proposal_accepted' : 'app.proposal_refused',
    userId: ownerId,
    actorId,
    applicationId: id,
    details: { ...proposed },
  });
}

export async function setRedirectUris(tx: EntityManager, id: number, uris: readonly string[]): Promise<void> {
  await tx.query('DELETE FROM application_redirect_uris WHERE application_id = $1', [id]);
  await tx.query(
    'INSERT INTO application_redirect_uris (application_id, uri) SELECT $1, uri FROM unnest($2::text[]) AS uri',
    [id, [...new Set(uris)]],
  );
}
