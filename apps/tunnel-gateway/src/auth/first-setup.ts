import { LoginThrottle } from '@gatehouse/auth';
import type { TunnelLoginView, TunnelSetupView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { refuseGuessable } from '../users/password-rules.js';
import { SetupTokens } from '../users/setup-tokens.js';
import { User } from '../data/user.entity.js';
import { NO_QUOTA } from '../quotas/quotas.js';
import { toUserView } from '../users/user.view.js';
import { Users } from '../users/users.service.js';
import type { SetupBody } from './auth.dto.js';
import { Logins } from './logins.js';

/** Wrong tokens are counted like wrong passwords. */
const ACCOUNT = 'first setup';
/** Only one request can create the first administrator. */
const LOCK = `SELECT pg_advisory_xact_lock(hashtext('tunnel_gateway.administrators'))`;

/** Creates the first administrator, for the holder of the token that the service wrote to a file. */
@Injectable()
export class FirstSetup {
  constructor(
    private readonly users: Users,
    private readonly tokens: SetupTokens,
    private readonly throttle: LoginThrottle,
    private readonly logins: Logins,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async state(): Promise<TunnelSetupView> {
    return { needed: await this.users.isEmpty() };
  }

  /** @throws AppError CONFLICT if there is a user, FORBIDDEN for a wrong token, RATE_LIMITED after too many of them */
  async run(body: SetupBody, request: Request, response: Response): Promise<TunnelLoginView> {
    await this.refuseWhenDone();
    refuseGuessable('password', body.password, body.username);
    const user = await this.throttle.attempt(request.ip ?? '', ACCOUNT, () => this.create(body));
    if (user === undefined)
      throw new AppError('FORBIDDEN', 'token: does not match the one that the service wrote to its file');
    const login = await this.logins.logIn(user, request, response, { cookie: false });
    if (login === undefined) throw new AppError('CONFLICT');
    return { ...login, user: toUserView(user, false, NO_QUOTA) };
  }

  private async create({ token, username, password }: SetupBody): Promise<User | undefined> {
    return this.unitOfWork.run(async (tx) => {
      await tx.query(LOCK);
      if (!(await this.tokens.accepts(token, tx))) return undefined;
      await this.refuseWhenDone();
      await this.users.create({ username, password, role: 'admin' }, tx);
      await this.tokens.end(tx);
      return tx.findOneByOrFail(User, { username });
    });
  }

  private async refuseWhenDone(): Promise<void> {
    if (!(await this.users.isEmpty())) throw new AppError('CONFLICT', 'An administrator already exists');
  }
}
