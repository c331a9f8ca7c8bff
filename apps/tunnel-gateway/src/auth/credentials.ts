import { LoginThrottle, PasswordChecks, requireLogin, type Actor, type GivenPassword } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { SecondFactor } from '../users/second-factor.js';
import type { User } from '../data/user.entity.js';
import { Users } from '../users/users.service.js';
import type { ProvesPassword } from './proof.dto.js';

interface GivenCredentials extends GivenPassword {
  readonly code?: string | undefined;
}

/**
 * Checks passwords and second factors, within the limits of logins. Each check also throws AppError TOTP_REQUIRED without a
 * code, and LOCKED after too many wrong ones.
 */
@Injectable()
export class Credentials extends PasswordChecks<User, GivenCredentials> {
  constructor(dataSource: DataSource, throttle: LoginThrottle, users: Users, factor: SecondFactor) {
    super(dataSource, throttle, {
      table: 'users',
      findByName: (name) => users.findEnabledByName(name),
      findById: (id) => users.findEnabled(id),
      nameOf: ({ username }) => username,
      acceptsAlso: async ({ id }, { code }) => {
        const outcome = await factor.check(id, code);
        // Thrown, because a success would reset the count of wrong codes.
        if (outcome === 'missing')
          throw new AppError('TOTP_REQUIRED', 'code: a code from the authenticator app is required');
        return outcome === 'accepted';
      },
      refusal: () => new AppError('FORBIDDEN', 'The current password or the code is wrong'),
    });
  }

  /**
   * The user that the actor acts for: a session that was left open or stolen is not enough.
   * @throws AppError FORBIDDEN for a wrong password or code
   */
  async prove(actor: Actor, { current_password: password, code }: ProvesPassword, address: string): Promise<User> {
    return this.confirm(requireLogin(actor), { password, code }, address);
  }
}
