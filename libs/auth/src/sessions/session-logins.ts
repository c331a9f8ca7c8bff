import type { UnitOfWork } from '@gatehouse/persistence';
import type { Request, Response } from 'express';
import type { EntityManager } from 'typeorm';
import type { SessionCookie } from './session-cookie.js';
import type { Session, SessionStore } from './session-store.js';

export interface OpenedSession {
  readonly token: string;
  readonly session: Session;
}

/** What a service does in the transaction that opens a session. */
export interface SessionPolicy<A> {
  /** Locks the account until the transaction ends; false if its password was changed or it was disabled since the check. */
  lock(account: A, tx: EntityManager): Promise<boolean>;
  /** Stores where the session was opened from. */
  record(account: A, session: Session, request: Request, tx: EntityManager): Promise<void>;
}

/** Opens and ends the sessions that browsers and programs log in with. Services extend it with their policy. */
export abstract class SessionLogins<A extends { readonly id: number }> {
  protected constructor(
    protected readonly unitOfWork: UnitOfWork,
    protected readonly sessions: SessionStore,
    private readonly cookie: SessionCookie,
    private readonly policy: SessionPolicy<A>,
  ) {}

  /**
   * Opens a session of an account that has authenticated, instead of the one that the request's cookie names, and sets the
   * cookie unless the options say otherwise. Undefined if the password was changed or the account disabled meanwhile: a
   * change of the password ends the session, or the session is not opened.
   */
  async open(
    account: A,
    request: Request,
    response: Response,
    { cookie = true }: { cookie?: boolean } = {},
  ): Promise<OpenedSession | undefined> {
    const opened = await this.unitOfWork.run(async (tx) => {
      if (!(await this.policy.lock(account, tx))) return undefined;
      const made = await this.sessions.create(account.id, tx);
      await this.policy.record(account, made.session, request, tx);
      return made;
    });
    if (opened === undefined) return undefined;
    await this.endNamed(request);
    if (cookie) response.setHeader('Set-Cookie', this.cookie.open(opened.token, this.sessions.absoluteSeconds));
    return opened;
  }

  /** Ends the session that the request's cookie names, and makes the browser forget it. */
  async close(request: Request, response: Response): Promise<void> {
    await this.endNamed(request);
    response.setHeader('Set-Cookie', this.cookie.close());
  }

  /** Ends a session that may have come as a token, and makes the browser forget its cookie. */
  async closeById(sessionId: number | null, response: Response): Promise<void> {
    if (sessionId !== null) await this.sessions.endById(sessionId);
    response.setHeader('Set-Cookie', this.cookie.close());
  }

  private async endNamed({ headers }: Request): Promise<void> {
    const token = this.cookie.read(headers);
    if (token !== undefined) await this.sessions.end(token);
  }
}
