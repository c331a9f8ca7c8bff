import { SessionCookie, SessionStore } from '@gatehouse/auth';
import type { TunnelLoginView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { User } from '../data/user.entity.js';
import { Users } from '../users/users.service.js';
import { LoginLog } from './login-log.js';

/** Opens sessions for users who have authenticated. */
@Injectable()
export class Logins {
  constructor(
    private readonly users: Users,
    private readonly sessions: SessionStore,
    private readonly cookie: SessionCookie,
    private readonly log: LoginLog,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * With `cookie`, the session is set as a cookie, too. Browsers send cookies to every port of a name, including those
   * of tunnels, so this must be requested. Undefined if the password was changed or the user disabled since the check.
   */
  async open(
    user: User,
    request: Request,
    response: Response,
    { cookie }: { cookie: boolean },
  ): Promise<Omit<TunnelLoginView, 'user'> | undefined> {
    const opened = await this.unitOfWork.run(async (tx) => {
      if ((await this.users.hold(user, tx)) === null) return undefined;
      const made = await this.sessions.create(user.id, tx);
      await this.log.opened(user, made.session.id, request, tx);
      return made;
    });
    if (opened === undefined) return undefined;
    const former = this.cookie.read(request.headers);
    if (former !== undefined) await this.sessions.end(former);
    if (cookie) response.setHeader('Set-Cookie', this.cookie.open(opened.token, this.sessions.absoluteSeconds));
    return { token: opened.token, expires_at: opened.session.expiresAt.toISOString() };
  }

  /** Ends the session of the request, whether it came as a cookie or as a token. */
  async close(sessionId: number | null, response: Response): Promise<void> {
    if (sessionId !== null) await this.sessions.endById(sessionId);
    response.setHeader('Set-Cookie', this.cookie.close());
  }
}
