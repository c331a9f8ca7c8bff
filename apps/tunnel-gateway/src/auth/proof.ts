import { type Actor, requireLogin } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { User } from '../data/user.entity.js';
import { Users } from '../users/users.service.js';
import { Credentials } from './credentials.js';
import type { ProvesPassword } from './proof.dto.js';

/** Checks that the actor knows the password of the user they act for. */
@Injectable()
export class Proof {
  constructor(
    private readonly users: Users,
    private readonly credentials: Credentials,
  ) {}

  /** @throws AppError FORBIDDEN for a wrong password or code; TOTP_REQUIRED, LOCKED and RATE_LIMITED as logins */
  async require(actor: Actor, { current_password: password, code }: ProvesPassword, address: string): Promise<User> {
    const user = await this.users.findEnabled(requireLogin(actor));
    if (user === null) throw new AppError('UNAUTHORIZED');
    const proved = await this.credentials.check({ username: user.username, password, code }, address);
    if (proved === undefined) throw new AppError('FORBIDDEN', 'The current password or the code is wrong');
    return proved;
  }
}
