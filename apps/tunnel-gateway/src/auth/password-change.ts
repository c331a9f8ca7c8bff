import { ApiKeyStore, hashPassword, SessionStore, type Actor } from '@gatehouse/auth';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { refuseGuessable } from '../users/password-rules.js';
import type { PasswordChangeBody } from './auth.dto.js';
import { Credentials } from './credentials.js';

/** Changes the current user's password. */
@Injectable()
export class PasswordChange {
  constructor(
    private readonly credentials: Credentials,
    private readonly sessions: SessionStore,
    private readonly keys: ApiKeyStore,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Ends all other logins and, unless the body says otherwise, revokes the API keys. */
  async run(body: PasswordChangeBody, actor: Actor, address: string): Promise<void> {
    const user = await this.credentials.prove(actor, body, address);
    refuseGuessable('new_password', body.new_password, user.username);
    const passwordHash = await hashPassword(body.new_password);
    await this.unitOfWork.run(async (tx) => {
      if (!(await this.credentials.replaceHash(user, passwordHash, tx))) throw new AppError('CONFLICT');
      await this.sessions.endOthersOf(user.id, actor.credentialId, tx);
      if (body.revoke_keys ?? true) await this.keys.revokeAllOf(user.id, tx);
    });
  }
}
