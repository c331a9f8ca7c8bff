import { type Actor, base32, requireLogin, totpUri } from '@gatehouse/auth';
import type { RecoveryCodesView, TotpEnrolmentView } from '@gatehouse/contracts';
import { UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { SecondFactor } from '../users/second-factor.js';
import { Credentials } from './credentials.js';
import type { ProvesPassword } from './proof.dto.js';

const ISSUER = 'Gatehouse tunnels';

/** The second factor of the current user. */
@Injectable()
export class OwnFactor {
  constructor(
    private readonly credentials: Credentials,
    private readonly factor: SecondFactor,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** @throws AppError CONFLICT if there is one already */
  async begin(body: ProvesPassword, actor: Actor, address: string): Promise<TotpEnrolmentView> {
    const user = await this.credentials.prove(actor, body, address);
    const secret = await this.factor.begin(user.id);
    return { secret: base32(secret), otpauth_uri: totpUri(secret, { issuer: ISSUER, account: user.username }) };
  }

  /** @throws AppError FORBIDDEN for a wrong code, LOCKED after ten, CONFLICT if none is being set up */
  async confirm(code: string, actor: Actor): Promise<RecoveryCodesView> {
    const codes = await this.factor.confirm(requireLogin(actor), code);
    if (codes === undefined) throw new AppError('FORBIDDEN', 'code: is not the current code of the authenticator app');
    return { recovery_codes: codes };
  }

  async end(body: ProvesPassword, actor: Actor, address: string): Promise<void> {
    const user = await this.credentials.prove(actor, body, address);
    await this.unitOfWork.run((tx) => this.factor.remove(user.id, tx));
  }

  /** @throws AppError CONFLICT without a second factor */
  async renewRecoveryCodes(body: ProvesPassword, actor: Actor, address: string): Promise<RecoveryCodesView> {
    const user = await this.credentials.prove(actor, body, address);
    return { recovery_codes: await this.factor.renewRecoveryCodes(user.id) };
  }
}
