import { LoginThrottle, TokenSigner } from '@gatehouse/auth';
import type { LoginResponse } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { ADMINISTRATOR, Administrator } from './administrator.js';
import type { PasswordChangeBody } from './auth.dto.js';
import { LoginService } from './login.service.js';

/** Sets a new password and ends every session that was opened with the old one. */
@Injectable()
export class ChangePassword {
  constructor(
    private readonly administrator: Administrator,
    private readonly throttle: LoginThrottle,
    private readonly tokens: TokenSigner,
    private readonly logins: LoginService,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Returns a new token for the caller, whose old one is invalid as well.
   * @throws AppError FORBIDDEN for a wrong current password; RATE_LIMITED as for logins, which share the same limits.
   */
  async run(body: PasswordChangeBody, clientAddress: string): Promise<LoginResponse> {
    const accepted = await this.throttle.attempt(clientAddress, ADMINISTRATOR, async () =>
      (await this.administrator.accepts(body.current_password)) ? true : undefined,
    );
    if (accepted === undefined) throw new AppError('FORBIDDEN', 'The current password is wrong');
    await this.unitOfWork.run(async (tx) => {
      await this.administrator.changePassword(tx, body.new_password);
      await this.tokens.rotate(tx);
    });
    return this.logins.issueToken();
  }
}
