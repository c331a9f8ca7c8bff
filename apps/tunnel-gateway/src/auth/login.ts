import { LoginThrottle, SessionCookie, SessionStore } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { toUserView, type UserView } from '../users/user.view.js';
import { Users } from '../users/users.service.js';
import type { LoginBody, LoginView } from './auth.dto.js';

/** Logging in and out of the console and its API. */
@Injectable()
export class Login {
  constructor(
    private readonly users: Users,
    private readonly throttle: LoginThrottle,
    private readonly sessions: SessionStore,
    private readonly cookie: SessionCookie,
  ) {}

  /** Raises LOGIN_FAILED for wrong credentials and RATE_LIMITED for too many of them. */
  async logIn({ username, password }: LoginBody, request: Request, response: Response): Promise<LoginView> {
    const user = await this.throttle.attempt(request.ip ?? '', username, () => this.users.verify(username, password));
    if (user === undefined) throw new AppError('LOGIN_FAILED');
    const present = this.cookie.read(request.headers);
    if (present !== undefined) await this.sessions.end(present);
    const { token, session } = await this.sessions.create(user.id);
    response.setHeader('Set-Cookie', this.cookie.open(token, this.sessions.absoluteSeconds));
    return { token, expires_at: session.expiresAt.toISOString(), user: toUserView(user) };
  }

  /** Ends the session that the request came with, in whichever way it was presented. */
  async logOut(sessionId: number | null, response: Response): Promise<void> {
    if (sessionId !== null) await this.sessions.endById(sessionId);
    response.setHeader('Set-Cookie', this.cookie.close());
  }

  /** Raises UNAUTHORIZED when the user is gone. */
  async user(userId: number | null): Promise<UserView> {
    const user = userId === null ? null : await this.users.findEnabled(userId);
    if (user === null) throw new AppError('UNAUTHORIZED');
    return toUserView(user);
  }
}
