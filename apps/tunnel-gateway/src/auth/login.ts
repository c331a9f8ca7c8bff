import type { Actor } from '@gatehouse/auth';
import type { TunnelLoginView, TunnelUserView } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { DataSource } from 'typeorm';
import { readQuotas } from '../quotas/quotas.js';
import { SecondFactor } from '../users/second-factor.js';
import type { User } from '../data/user.entity.js';
import { toUserView } from '../users/user.view.js';
import { Users } from '../users/users.service.js';
import type { LoginBody } from './auth.dto.js';
import { Credentials } from './credentials.js';
import { LoginLog } from './login-log.js';
import { Logins } from './logins.js';

/** Logging in to the console and its API. */
@Injectable()
export class Login {
  constructor(
    private readonly credentials: Credentials,
    private readonly logins: Logins,
    private readonly log: LoginLog,
    private readonly users: Users,
    private readonly factor: SecondFactor,
    private readonly dataSource: DataSource,
  ) {}

  /** @throws AppError LOGIN_FAILED; TOTP_REQUIRED, LOCKED and RATE_LIMITED as `Credentials` */
  async logIn(body: LoginBody, request: Request, response: Response): Promise<TunnelLoginView> {
    const address = request.ip ?? '';
    const user = await this.credentials.login(body.username, body, address);
    const login = user && (await this.logins.logIn(user, request, response, { cookie: body.cookie === true }));
    if (user !== undefined && login !== undefined) return { ...login, user: await this.view(user) };
    await this.log.failed(body.username, address);
    throw new AppError('LOGIN_FAILED');
  }

  /** @throws AppError UNAUTHORIZED if the user was removed */
  async user({ userId }: Actor): Promise<TunnelUserView> {
    const user = userId === null ? null : await this.users.findEnabled(userId);
    if (user === null) throw new AppError('UNAUTHORIZED');
    return this.view(user);
  }

  private async view(user: User): Promise<TunnelUserView> {
    const having = await this.factor.having([user.id]);
    const quotaOf = await readQuotas(this.dataSource, 'user', [user.id]);
    return toUserView(user, having.has(user.id), quotaOf(user.id));
  }
}
