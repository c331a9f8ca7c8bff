import { TokenSigner } from '@gatehouse/auth';
import type { LoginResponse } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { Administrator, ADMINISTRATOR_ID } from './administrator.js';
import type { PasswordChangeBody } from './auth.dto.js';
import { LoginService } from './login.service.js';

/** Sets a new password and ends every session that was opened with the old one. */
@Injectable()
export class ChangePassword {
  constructor(
    private readonly administrator: Administrator,
    private readonly tokens: TokenSigner,
    private readonly logins: LoginService,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Returns a new token for the caller, whose old one is invalid as well.
   * @throws AppError FORBIDDEN for a wrong current password; RATE_LIMITED as for logins, which share the same limits.
   */
  async run(body: PasswordChangeBody, clientAddress: string): Promise<LoginResponse> {
    await this.administrator.confirm(ADMINISTRATOR_ID, { password: body.current_password }, clientAddress);
    await this.unitOfWork.run(async (tx) => {
      await this.administrator.changePassword(tx, body.new_password);
      await this.tokens.rotate(tx);
    });
    return this.logins.issueToken();
  }
}
