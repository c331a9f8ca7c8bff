import { SessionCookie, SessionStore } from '@gatehouse/auth';
import type { TunnelLoginView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { EventLog } from '../events/event-log.js';
import { SecondFactor } from '../users/second-factor.js';
import type { User } from '../users/user.entity.js';
import { toUserView } from '../users/user.view.js';
import { Users } from '../users/users.service.js';

const MAX_SOFTWARE = 256;

/** Opens logins for those who have proved who they are. */
@Injectable()
export class Logins {
  constructor(
    private readonly users: Users,
    private readonly factor: SecondFactor,
    private readonly sessions: SessionStore,
    private readonly cookie: SessionCookie,
    private readonly events: EventLog,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Undefined when the password was changed or the user disabled since it was compared. */
  async open(user: User, request: Request, response: Response): Promise<TunnelLoginView | undefined> {
    const address = request.ip ?? '';
    const opened = await this.unitOfWork.run(async (tx) => {
      if ((await this.users.hold(user, tx)) === null) return undefined;
      const made = await this.sessions.create(user.id, tx);
      const software = request.headers['user-agent']?.slice(0, MAX_SOFTWARE) ?? null;
      await tx.query('INSERT INTO session_details (session_id, address, software) VALUES ($1, $2, $3)', [
        made.session.id,
        address,
        software,
      ]);
      await this.events.record(
        {
          type: 'user.login',
          resource: { kind: 'user', id: user.id },
          ownerUserId: user.id,
          message: `${user.username} logged in from ${address}`,
          data: { username: user.username, address, software },
        },
        tx,
      );
      return made;
    });
    if (opened === undefined) return undefined;
    const former = this.cookie.read(request.headers);
    if (former !== undefined) await this.sessions.end(former);
    response.setHeader('Set-Cookie', this.cookie.open(opened.token, this.sessions.absoluteSeconds));
    const having = await this.factor.having([user.id]);
    const { expiresAt } = opened.session;
    return { token: opened.token, expires_at: expiresAt.toISOString(), user: toUserView(user, having.has(user.id)) };
  }

  /** Ends the login that the request came with, in whichever way it was presented. */
  async close(sessionId: number | null, response: Response): Promise<void> {
    if (sessionId !== null) await this.sessions.endById(sessionId);
    response.setHeader('Set-Cookie', this.cookie.close());
  }
}
