import { SCOPES, TokenSigner } from '@gatehouse/auth';
import type { AuthStatusResponse, LoginResponse } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';
import { ADMINISTRATOR, Administrator } from './administrator.js';
import { OpenAccess } from './open-access.js';

@Injectable()
export class LoginService {
  constructor(
    private readonly administrator: Administrator,
    private readonly tokens: TokenSigner,
    private readonly preferences: Preferences,
    private readonly access: OpenAccess,
  ) {}

  /** @throws AppError LOGIN_FAILED; RATE_LIMITED with Retry-After after too many failures. */
  async login(password: string, clientAddress: string): Promise<LoginResponse> {
    const account = await this.administrator.login(ADMINISTRATOR, { password }, clientAddress);
    if (account === undefined) throw new AppError('LOGIN_FAILED', 'The password is wrong');
    return this.issueToken();
  }

  async issueToken(): Promise<LoginResponse> {
    const lifetime = this.preferences.get('auth.token_ttl_sec');
    const { token, expiresAt } = await this.tokens.issue({ name: ADMINISTRATOR, scopes: SCOPES }, lifetime);
    return { token, token_type: 'Bearer', expires_in: lifetime, expires_at: expiresAt.toISOString() };
  }

  status(): AuthStatusResponse {
    return { enabled: this.access.loginNeeded() };
  }
}
