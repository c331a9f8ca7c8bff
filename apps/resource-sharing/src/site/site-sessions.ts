import { SessionCookie, SessionStore } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DataSource, type EntityManager } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import type { RevocationReason } from '../credentials/grants.service.js';
import { rowsOf } from '../data/rows-of.js';
import { DelegatedAccess } from './delegated-access.js';
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
export class SiteSessions {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly sessions: SessionStore,
    private readonly cookie: SessionCookie,
    private readonly access: DelegatedAccess,
  ) {}

  /**
   * Replaces the session of the request, if any, by a new one of the account, and sets its cookie. Raises LOGIN_FAILED
   * when the password was changed meanwhile.
   */
  async open({ id, passwordHash }: ConfirmedAccount, request: Request, response: Response): Promise<void> {
    await this.endPresent(request);
    const { token, session } = await this.sessions.create(id);
    const agent = request.headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null;
    // Waits for a password change in progress: either that change has ended this session, or it ends here.
    const opened = await rowsOf(
      this.dataSource,
      `WITH active AS (UPDATE site_accounts SET last_active_at = now()
         WHERE id = $4 AND password_hash = $5 AND disabled_at IS NULL RETURNING id)
       UPDATE sessions SET ip = $2, user_agent = $3 WHERE id = $1 AND EXISTS (SELECT FROM active) RETURNING id`,
      [session.id, request.ip ?? null, agent, id, passwordHash],
    );
    if (opened.length === 0) {
      await this.sessions.endById(session.id);
      throw new AppError('LOGIN_FAILED');
    }
    response.setHeader('Set-Cookie', this.cookie.open(token, this.sessions.absoluteSeconds));
  }

  /** Ends the session of the request and makes the browser forget it. */
  async close(request: Request, response: Response): Promise<void> {
    await this.endPresent(request);
    response.setHeader('Set-Cookie', this.cookie.close());
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

  /** Ends one session; raises NOT_FOUND for another account's, so that ids reveal nothing. */
  async end(userId: number, id: number): Promise<void> {
    const rows = await rowsOf(this.dataSource, 'SELECT id FROM sessions WHERE id = $1 AND user_id = $2', [id, userId]);
    if (rows.length === 0) throw new AppError('NOT_FOUND', `There is no session ${id}`);
    await this.sessions.endById(id);
  }

  /** Logs the account out everywhere: sessions, keys, and what applications were given (RFC 9700 section 2.2.2). */
  async endAll(userId: number): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      await recordEvent(tx, { type: 'user.logged_out_everywhere', userId });
      await this.endAllIn(tx, userId, 'logged_out_everywhere', { keys: true });
    });
  }

  /** The same within a larger change; the last statements of its transaction. */
  async endAllIn(
    tx: EntityManager,
    userId: number,
    reason: RevocationReason,
    { keys = false }: { keys?: boolean } = {},
  ): Promise<void> {
    await this.sessions.endAllOf(userId, tx);
    await this.access.end(tx, userId, reason, { keys });
  }

  private async endPresent(request: Request): Promise<void> {
    const token = this.cookie.read(request.headers);
    if (token !== undefined) await this.sessions.end(token);
  }
}
