import { SessionCookie, SessionLogins, SessionStore } from '@gatehouse/auth';
import type { TunnelLoginView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { User } from '../data/user.entity.js';
import { Users } from '../users/users.service.js';
import { LoginLog } from './login-log.js';

/** Opens sessions for users who have authenticated. */
@Injectable()
export class Logins extends SessionLogins<User> {
  constructor(unitOfWork: UnitOfWork, sessions: SessionStore, cookie: SessionCookie, users: Users, log: LoginLog) {
    super(unitOfWork, sessions, cookie, {
      lock: async (user, tx) => (await users.hold(user, tx)) !== null,
      record: (user, { id }, request, tx) => log.opened(user, id, request, tx),
    });
  }

  /**
   * With `cookie`, the session is set as a cookie, too. Browsers send cookies to every port of a name, including those
   * of tunnels, so this must be requested. Undefined if the password was changed or the user disabled since the check.
   */
  async logIn(
    user: User,
    request: Request,
    response: Response,
    options: { cookie: boolean },
  ): Promise<Omit<TunnelLoginView, 'user'> | undefined> {
    const opened = await this.open(user, request, response, options);
    return opened && { token: opened.token, expires_at: opened.session.expiresAt.toISOString() };
  }
}
