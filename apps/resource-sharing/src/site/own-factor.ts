import { base32, totpUri, type FactorState } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { recordEvent } from '../audit/record-event.js';
import { PasswordConfirmation, type Proof } from './password-confirmation.js';
import { SecondFactor } from './second-factor.js';

export const FACTOR_ISSUER = 'Gatehouse sharing';

/** What an authenticator app needs. */
export interface FactorEnrolment {
  /** Base32. */
  readonly secret: string;
  /** For a QR code. */
  readonly uri: string;
}

/** The second factor of the account that is logged in. An open session alone changes nothing. */
@Injectable()
export class OwnFactor {
  constructor(
    private readonly factor: SecondFactor,
    private readonly password: PasswordConfirmation,
  ) {}

  async state(userId: number): Promise<FactorState> {
    return this.factor.stateOf(userId);
  }

  /** @throws the errors of PasswordConfirmation; CONFLICT if there is one already */
  async begin(userId: number, proof: Proof, request: Request): Promise<FactorEnrolment> {
    const { username } = await this.password.confirm(userId, proof, request);
    const secret = await this.factor.begin(userId);
    return { secret: base32(secret), uri: totpUri(secret, { issuer: FACTOR_ISSUER, account: username }) };
  }

  /** Recovery codes. @throws INVALID_ARGUMENT for a wrong code, LOCKED after ten, CONFLICT if none is being set up */
  async confirm(userId: number, code: string): Promise<string[]> {
    const codes = await this.factor.confirm(userId, code);
    if (codes !== undefined) return codes;
    const message = 'is not the current code of the authenticator app';
    throw new AppError('INVALID_ARGUMENT', `code: ${message}`, { details: [{ field: 'code', message }] });
  }

  /** @throws the errors of PasswordConfirmation */
  async end(userId: number, proof: Proof, request: Request): Promise<void> {
    await this.password.during(userId, proof, request, async (tx) => {
      if (!(await this.factor.remove(userId, tx))) return;
      await recordEvent(tx, { type: 'user.second_factor_disabled', userId, ip: request.ip });
    });
  }

  /** @throws the errors of PasswordConfirmation; CONFLICT without a second factor */
  async renewRecoveryCodes(userId: number, proof: Proof, request: Request): Promise<string[]> {
    await this.password.confirm(userId, proof, request);
    return this.factor.renewRecoveryCodes(userId);
  }
}
