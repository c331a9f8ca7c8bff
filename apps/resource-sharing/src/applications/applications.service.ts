import { randomInt } from 'node:crypto';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import type { ApplicationKind, ApplicationStatus } from '../credentials/credential-records.js';
import { Grants } from '../credentials/grants.service.js';
import { Revocations } from '../credentials/revocations.js';
import { oneRow, rowsOf, type SqlSource } from '../data/rows-of.js';
import type { OpenScope } from '../credentials/caller.js';
import { APPLICATION_COLUMNS, toApplication, type Application, type ApplicationRow } from './application-rows.js';
import {
  setRedirectUris,
  settleProposal,
  writeChange,
  writeReview,
  type ApplicationChange,
  type ApplicationReview,
} from './application-writes.js';
import { splitChange } from './proposed-change.js';
import { TestData } from '../test-mode/test-data.js';
import { redirectUriProblem } from './redirect-uri.js';

export interface NewApplication {
  readonly name: string;
  readonly description?: string | undefined;
  readonly kind: ApplicationKind;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly OpenScope[];
  readonly requirePkce?: boolean | undefined;
  readonly ipAllow?: readonly string[] | undefined;
}

const MAX_APPLICATIONS = 20;
const CLIENT_ID_SYMBOLS = '0123456789abcdefghijklmnopqrstuvwxyz';

/** Third-party applications: registered and managed by their owners, reviewed by administrators. */
@Injectable()
export class Applications {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly revocations: Revocations,
    private readonly grants: Grants,
    private readonly testData: TestData,
  ) {}

  /** Registers an application: pending and unverified, for its owner and test users. @throws CONFLICT above 20. */
  async register(ownerId: number, given: NewApplication, tx?: EntityManager): Promise<Application> {
    if (tx === undefined) return this.unitOfWork.run((own) => this.register(ownerId, given, own));
    assertRedirectUris(given.redirectUris, given.kind);
    // Locked, so that concurrent registrations are counted one after another.
    await tx.query('SELECT FROM site_accounts WHERE id = $1 FOR NO KEY UPDATE', [ownerId]);
    const counted = 'SELECT count(*)::integer AS n FROM applications WHERE owner_id = $1';
    const { n } = await oneRow<{ n: number }>(tx, counted, [ownerId]);
    if (n >= MAX_APPLICATIONS) {
      throw new AppError('CONFLICT', `An account may register ${MAX_APPLICATIONS} applications`);
    }
    const { id } = await oneRow<{ id: number }>(
      tx,
      `INSERT INTO applications (client_id, name, description, owner_id, kind, allowed_scopes, pkce_required, ip_allow)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING id`,
      [
        newClientId(),
        given.name,
        given.description ?? '',
        ownerId,
        given.kind,
        given.scopes,
        given.kind !== 'confidential' || given.requirePkce === true,
        given.ipAllow ?? [],
      ],
    );
    await setRedirectUris(tx, id, given.redirectUris);
    await recordEvent(tx, { type: 'app.created', userId: ownerId, applicationId: id, details: { name: given.name } });
    return requireApplication(tx, 'a.id = $1', [id]);
  }

  async listOf(ownerId: number): Promise<Application[]> {
    const rows = await rowsOf<ApplicationRow>(
      this.dataSource,
      `SELECT ${APPLICATION_COLUMNS} FROM applications a WHERE a.owner_id = $1 ORDER BY a.id DESC`,
      [ownerId],
    );
    return rows.map(toApplication);
  }

  /** For administrators: all applications, newest first. */
  async list(options: {
    status?: ApplicationStatus;
    proposed?: boolean;
    limit: number;
    offset: number;
  }): Promise<Application[]> {
    const rows = await rowsOf<ApplicationRow>(
      this.dataSource,
      `SELECT ${APPLICATION_COLUMNS} FROM applications a
       WHERE ($1::text IS NULL OR a.status = $1) AND (NOT $4 OR a.proposed IS NOT NULL)
       ORDER BY a.id DESC LIMIT $2 OFFSET $3`,
      [options.status ?? null, options.limit, options.offset, options.proposed === true],
    );
    return rows.map(toApplication);
  }

  /**
   * Everything that is waiting for review, longest first: new applications, and reviewed ones with a proposed change.
   */
  async waiting(limit: number): Promise<{ applications: Application[]; total: number }> {
    const rows = await rowsOf<ApplicationRow & { total: number }>(
      this.dataSource,
      `SELECT ${APPLICATION_COLUMNS}, count(*) OVER ()::integer AS total FROM applications a
       WHERE a.status = 'pending' OR (a.status = 'approved' AND a.proposed IS NOT NULL)
       ORDER BY CASE a.status WHEN 'pending' THEN a.created_at ELSE a.updated_at END, a.id LIMIT $1`,
      [limit],
    );
    return { applications: rows.map(toApplication), total: rows[0]?.total ?? 0 };
  }

  /** The application of a public client id; null when there is none. */
  async findByClientId(clientId: string): Promise<Application | null> {
    return findApplication(this.dataSource, 'a.client_id = $1', [clientId]);
  }

  /** An owner's application. @throws NOT_FOUND for another owner's too, so that ids reveal nothing. */
  async ofOwner(ownerId: number, clientId: string): Promise<Application> {
    return ownApplication(this.dataSource, ownerId, clientId);
  }

  /**
   * Changes that users of a reviewed application would see wait for a review. `confirmed` is a transaction of
   * PasswordConfirmation.during(); it is required to make an application act for its owner.
   * @throws NOT_FOUND, CONFLICT without it, INVALID_ARGUMENT, and FORBIDDEN for more scopes than a reviewed application
   * has.
   */
  async update(
    ownerId: number,
    clientId: string,
    change: ApplicationChange,
    confirmed?: EntityManager,
  ): Promise<Application> {
    if (confirmed !== undefined) return this.change(confirmed, ownerId, clientId, change);
    return this.unitOfWork.run((tx) => this.change(tx, ownerId, clientId, change, { mayBind: false }));
  }

  private async change(
    tx: EntityManager,
    ownerId: number,
    clientId: string,
    change: ApplicationChange,
    { mayBind }: { mayBind: boolean } = { mayBind: true },
  ): Promise<Application> {
    const present = await ownApplication(tx, ownerId, clientId, 'FOR NO KEY UPDATE OF a');
    if (!mayBind && change.boundToOwner === true && present.boundUserId !== ownerId) {
      throw new AppError('CONFLICT', 'The application was changed by another request: it no longer acts for its owner');
    }
    assertChange(present, change);
    const { now, proposed } = splitChange(present, change);
    await writeChange(tx, present.id, now, proposed);
    await recordEvent(tx, {
      type: proposed === null ? 'app.updated' : 'app.proposed',
      userId: ownerId,
      applicationId: present.id,
      details: { ...change },
    });
    await this.revocations.announce(tx, [`application:${present.id}`]);
    return requireApplication(tx, 'a.id = $1', [present.id]);
  }

  /**
   * The decision of an administrator. Rejecting or disabling an application ends all its grants.
   * @throws NOT_FOUND, CONFLICT
   */
  async review(actorId: number, clientId: string, review: ApplicationReview): Promise<Application> {
    return this.unitOfWork.run(async (tx) => {
      const present = await requireApplication(tx, 'a.client_id = $1', [clientId], 'FOR NO KEY UPDATE OF a');
      assertSeen(present, review);
      await writeReview(tx, present.id, review);
      if (review.proposal !== undefined) await settleProposal(tx, actorId, present, review.proposal);
      const ends = review.status === 'disabled' || review.status === 'rejected';
      await recordEvent(tx, {
        type: ends ? 'app.disabled' : 'app.reviewed',
        userId: present.ownerId,
        actorId,
        applicationId: present.id,
        details: { ...review },
      });
      if (ends) await this.grants.revoke(tx, { applicationId: present.id }, 'application_disabled');
      await this.revocations.announce(tx, [`application:${present.id}`]);
      return requireApplication(tx, 'a.id = $1', [present.id]);
    });
  }

  /** Removes an application with its secrets, grants and tokens. @throws NOT_FOUND */
  async remove(ownerId: number, clientId: string): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const { id, name } = await ownApplication(tx, ownerId, clientId, 'FOR UPDATE OF a');
      await tx.query('DELETE FROM applications WHERE id = $1', [id]);
      await this.testData.emptyIn(tx, [id]);
      await recordEvent(tx, { type: 'app.deleted', userId: ownerId, applicationId: id, details: { name } });
      await this.revocations.announce(tx, [`application:${id}`]);
    });
  }
}

/** @throws NOT_FOUND, also for an application of another owner. */
export async function ownApplication(
  source: SqlSource,
  ownerId: number,
  clientId: string,
  lock = '',
): Promise<Application> {
  return requireApplication(source, 'a.client_id = $1 AND a.owner_id = $2', [clientId, ownerId], lock);
}

async function requireApplication(
  source: SqlSource,
  where: string,
  parameters: unknown[],
  lock = '',
): Promise<Application> {
  const application = await findApplication(source, where, parameters, lock);
  if (application === null) throw new AppError('NOT_FOUND', 'The application does not exist');
  return application;
}

async function findApplication(
  source: SqlSource,
  where: string,
  parameters: unknown[],
  lock = '',
): Promise<Application | null> {
  const sql = `SELECT ${APPLICATION_COLUMNS} FROM applications a WHERE ${where} ${lock}`;
  const [row] = await rowsOf<ApplicationRow>(source, sql, parameters);
  return row === undefined ? null : toApplication(row);
}

function assertSeen(present: Application, { seenAt, proposal }: ApplicationReview): void {
  if (seenAt !== undefined && seenAt.getTime() !== present.updatedAt.getTime()) {
    throw new AppError('CONFLICT', 'The application was changed by another request: load it again');
  }
  if (proposal !== undefined && present.proposed === null) {
    throw new AppError('CONFLICT', 'No change is waiting for review');
  }
}

function assertChange(present: Application, change: ApplicationChange): void {
  if (change.redirectUris !== undefined) assertRedirectUris(change.redirectUris, present.kind);
  if (present.kind !== 'confidential' && change.requirePkce === false) {
    throw new AppError('INVALID_ARGUMENT', 'Only a confidential application can leave out PKCE');
  }
  if (present.kind !== 'confidential' && change.boundToOwner === true) {
    throw new AppError('INVALID_ARGUMENT', 'Only a confidential application can act for its owner');
  }
  const more = change.scopes?.some((scope) => !present.allowedScopes.includes(scope)) === true;
  if (more && present.authLevel !== 'unverified') {
    throw new AppError('FORBIDDEN', 'Only an administrator can give a reviewed application more scopes');
  }
}

function assertRedirectUris(uris: readonly string[], kind: ApplicationKind): void {
  const details = uris.flatMap((uri, index) => {
    const message = redirectUriProblem(uri, kind);
    return message === undefined ? [] : [{ field: `redirect_uris[${index}]`, message }];
  });
  if (details.length > 0) throw new AppError('INVALID_ARGUMENT', 'A redirect address is not valid', { details });
}

/** Never a number, so that no client id is a user id (RFC 9700 section 4.15). */
function newClientId(): string {
  const symbols = Array.from({ length: 24 }, () => CLIENT_ID_SYMBOLS[randomInt(36)]);
  return `app_${symbols.join('')}`;
}
