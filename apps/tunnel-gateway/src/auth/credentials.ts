import { LoginThrottle } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { SecondFactor } from '../users/second-factor.js';
import type { User } from '../data/user.entity.js';
import { Users } from '../users/users.service.js';

export interface GivenCredentials {
  readonly username: string;
  readonly password: string;
  readonly code?: string | undefined;
}

/** Checks passwords and second factors, within the limits of logins. */
@Injectable()
export class Credentials {
  constructor(
    private readonly users: Users,
    private readonly factor: SecondFactor,
    private readonly throttle: LoginThrottle,
  ) {}

  /**
   * The user; undefined for a wrong password or code.
   * @throws AppError TOTP_REQUIRED, LOCKED after too many wrong codes, RATE_LIMITED after too many failures
   */
  async check({ username, password, code }: GivenCredentials, address: string): Promise<User | undefined> {
    return this.throttle.attempt(address, username, async () => {
      const user = await this.users.verify(username, password);
      if (user === undefined) return undefined;
      const outcome = await this.factor.check(user.id, code);
      // Thrown, because a success would reset the count of wrong codes.
      if (outcome === 'missing')
        throw new AppError('TOTP_REQUIRED', 'code: a code from the authenticator app is required');
      return outcome === 'accepted' ? user : undefined;
    });
  }
}
