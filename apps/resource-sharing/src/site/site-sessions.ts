import { SessionCookie, SessionLogins, SessionStore, type OpenedSession, type Session } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DataSource, type EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import type { RevocationReason } from '../credentials/grants.service.js';
import { rowsOf } from '../data/rows-of.js';
import { DelegatedAccess } from './delegated-access.js';
import { noteSignIn } from './sign-in-networks.js';
import type { ConfirmedAccount } from './site-accounts.service.js';

/** A login of an account as its owner sees it. */
export interface SiteSession {
  readonly id: number;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

const MAX_USER_AGENT = 300;

/** Sessions of the site: opens them with their address and browser, lists them and ends them. */
@Injectable()
export class SiteSessions extends SessionLogins<ConfirmedAccount> {
  constructor(
    private readonly dataSource: DataSource,
    unitOfWork: UnitOfWork,
    sessions: SessionStore,
    cookie: SessionCookie,
    private readonly access: DelegatedAccess,
  ) {
    super(unitOfWork, sessions, cookie, { lock: noteActivity, record: recordBrowser });
  }

  /** @throws LOGIN_FAILED when the password was changed meanwhile. */
  override async open(account: ConfirmedAccount, request: Request, response: Response): Promise<OpenedSession> {
    const opened = await super.open(account, request, response);
    if (opened === undefined) throw new AppError('LOGIN_FAILED');
    return opened;
  }

  /** Open sessions of an account, newest first. */
  async list(userId: number): Promise<SiteSession[]> {
    return rowsOf<SiteSession>(
      this.dataSource,
      `SELECT id, created_at AS "createdAt", expires_at AS "expiresAt", ip, user_agent AS "userAgent" FROM sessions
       WHERE user_id = $1 AND expires_at > now() ORDER BY id DESC LIMIT 200`,
      [userId],
    );
  }

  /** Ends one session. @throws NOT_FOUND for another account's, so that ids reveal nothing. */
  async end(userId: number, id: number): Promise<void> {
    const rows = await rowsOf(this.dataSource, 'SELECT id FROM sessions WHERE id = $1 AND user_id = $2', [id, userId]);
    if (rows.length === 0) throw new AppError('NOT_FOUND', `There is no session ${id}`);
    await this.sessions.endById(id);
  }

  /** Logs the account out everywhere: sessions, keys, and grants of applications (RFC 9700 section 2.2.2). */
  async endAll(userId: number): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      await recordEvent(tx, { type: 'user.logged_out_everywhere', userId });
      await this.endAllIn(tx, userId, 'logged_out_everywhere', { keys: true });
    });
  }

  /** The same within a larger change; must be the last statements of its transaction. */
  async endAllIn(
    tx: EntityManager,
    userId: number,
    reason: RevocationReason,
    { keys = false }: { keys?: boolean } = {},
  ): Promise<void> {
    await this.sessions.endAllOf(userId, tx);
    await this.access.end(tx, userId, reason, { keys });
  }
}

async function noteActivity({ id, passwordHash }: ConfirmedAccount, tx: EntityManager): Promise<boolean> {
  const noted = await rowsOf(
    tx,
    `UPDATE site_accounts SET last_active_at = now()
     WHERE id = $1 AND password_hash = $2 AND disabled_at IS NULL RETURNING id`,
    [id, passwordHash],
  );
  return noted.length > 0;
}

async function recordBrowser(
  account: ConfirmedAccount,
  session: Session,
  { headers, ip }: Request,
  tx: EntityManager,
): Promise<void> {
  const agent = headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null;
  await tx.query('UPDATE sessions SET ip = $2, user_agent = $3 WHERE id = $1', [session.id, ip ?? null, agent]);
  if (ip !== undefined) await noteSignIn(tx, account.id, ip);
}
