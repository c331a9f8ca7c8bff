import { type Actor } from '@gatehouse/auth';
import type { TunnelLoginView, TunnelUserView } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { EventLog } from '../events/event-log.js';
import { SecondFactor } from '../users/second-factor.js';
import { toUserView } from '../users/user.view.js';
import { Users } from '../users/users.service.js';
import type { LoginBody } from './auth.dto.js';
import { Credentials } from './credentials.js';
import { Logins } from './logins.js';

/** Logging in to the console and its API. */
@Injectable()
export class Login {
  constructor(
    private readonly credentials: Credentials,
    private readonly logins: Logins,
    private readonly users: Users,
    private readonly factor: SecondFactor,
    private readonly events: EventLog,
  ) {}

  /** @throws AppError LOGIN_FAILED; TOTP_REQUIRED, LOCKED and RATE_LIMITED as `Credentials` */
  async logIn(body: LoginBody, request: Request, response: Response): Promise<TunnelLoginView> {
    const address = request.ip ?? '';
    const user = await this.credentials.check(body, address);
    const view = user && (await this.logins.open(user, request, response));
    if (view !== undefined) return view;
    await this.noteFailure(body.username, address);
    throw new AppError('LOGIN_FAILED');
  }

  /** @throws AppError UNAUTHORIZED when the user is gone */
  async user({ userId }: Actor): Promise<TunnelUserView> {
    const user = userId === null ? null : await this.users.findEnabled(userId);
    if (user === null) throw new AppError('UNAUTHORIZED');
    const having = await this.factor.having([user.id]);
    return toUserView(user, having.has(user.id));
  }

  /** Says nothing of a name that nobody has: it may be a password that went into the wrong field. */
  private async noteFailure(username: string, address: string): Promise<void> {
    const user = await this.users.findByName(username);
    await this.events.record({
      type: 'user.login_failed',
      resource: user && { kind: 'user', id: user.id },
      ownerUserId: user?.id ?? null,
      message: `a login ${user ? `of ${user.username}` : 'with an unknown name'} from ${address} failed`,
      data: { username: user?.username ?? null, address },
    });
  }
}
