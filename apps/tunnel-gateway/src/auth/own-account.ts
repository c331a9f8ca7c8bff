import { ApiKeyStore, hashPassword, SessionStore, totpUri, base32, type Actor } from '@gatehouse/auth';
import type { RecoveryCodesView, TotpEnrolmentView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { refuseGuessable } from '../users/password-rules.js';
import { SecondFactor } from '../users/second-factor.js';
import { Users } from '../users/users.service.js';
import type { PasswordChangeBody } from './auth.dto.js';
import { Proof } from './proof.js';
import type { ProvesPassword } from './proof.dto.js';
import { requireLogin } from './require-login.js';

const ISSUER = 'Gatehouse tunnels';

/** What people change of their own account, with their password each time. */
@Injectable()
export class OwnAccount {
  constructor(
    private readonly proof: Proof,
    private readonly users: Users,
    private readonly factor: SecondFactor,
    private readonly sessions: SessionStore,
    private readonly keys: ApiKeyStore,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Ends all other logins and, unless the body says otherwise, the API keys. */
  async changePassword(body: PasswordChangeBody, actor: Actor, address: string): Promise<void> {
    const user = await this.proof.require(actor, body, address);
    refuseGuessable('new_password', body.new_password, user.username);
    const passwordHash = await hashPassword(body.new_password);
    await this.unitOfWork.run(async (tx) => {
      if (!(await this.users.replaceHash(user, passwordHash, tx))) throw new AppError('CONFLICT');
      await this.sessions.endOthersOf(user.id, actor.credentialId, tx);
      if (body.revoke_keys ?? true) await this.keys.revokeAllOf(user.id, tx);
    });
  }

  /** @throws AppError CONFLICT when there is a second factor already */
  async beginTotp(body: ProvesPassword, actor: Actor, address: string): Promise<TotpEnrolmentView> {
    const user = await this.proof.require(actor, body, address);
    const secret = await this.factor.begin(user.id);
    return { secret: base32(secret), otpauth_uri: totpUri(secret, { issuer: ISSUER, account: user.username }) };
  }

  /** @throws AppError FORBIDDEN for a wrong code, CONFLICT when none is being set up */
  async confirmTotp(code: string, actor: Actor): Promise<RecoveryCodesView> {
    const codes = await this.factor.confirm(requireLogin(actor), code);
    if (codes === undefined) throw new AppError('FORBIDDEN', 'code: is not what the authenticator should show now');
    return { recovery_codes: codes };
  }

  async endTotp(body: ProvesPassword, actor: Actor, address: string): Promise<void> {
    const user = await this.proof.require(actor, body, address);
    await this.unitOfWork.run((tx) => this.factor.remove(user.id, tx));
  }

  /** @throws AppError CONFLICT without a second factor */
  async renewRecoveryCodes(body: ProvesPassword, actor: Actor, address: string): Promise<RecoveryCodesView> {
    const user = await this.proof.require(actor, body, address);
    return { recovery_codes: await this.factor.renewRecoveryCodes(user.id) };
  }
}
