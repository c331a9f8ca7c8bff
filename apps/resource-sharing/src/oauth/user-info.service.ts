import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import { DataSource } from 'typeorm';
import { CredentialLookup } from '../credentials/credential-lookup.js';
import type { TokenRecord } from '../credentials/credential-records.js';
import { rowsOf } from '../data/rows-of.js';
import { OAuthError, type OAuthErrorName } from './oauth-error.js';
import { OAuthParameters } from './oauth-parameters.js';
import type { UserInfoView } from './user-info.view.js';

const REALM = 'resource-sharing';

const USER = `SELECT id, username, nickname, avatar_url AS "avatarUrl", email, language,
    email_verified_at IS NOT NULL AS "emailVerified", extract(epoch FROM updated_at)::bigint AS "updatedAt"
  FROM site_accounts WHERE id = $1 AND disabled_at IS NULL`;

interface UserRow {
  readonly id: number;
  readonly username: string;
  readonly nickname: string;
  readonly avatarUrl: string | null;
  readonly email: string | null;
  readonly language: string | null;
  readonly emailVerified: boolean;
  /** In seconds since the epoch. */
  readonly updatedAt: number;
}

/** Claims about the user of an access token (OpenID Connect Core section 5.3). */
@Injectable()
export class UserInfo {
  constructor(
    private readonly dataSource: DataSource,
    private readonly lookup: CredentialLookup,
  ) {}

  /** @throws OAuthError with a challenge (RFC 6750 section 3) */
  async of(request: Request): Promise<UserInfoView> {
    const token = await this.token(presentedToken(request), request.ip);
    if (!token.identityScopes.includes('openid')) {
      throw refused('insufficient_scope', 'The token was issued without openid', ', scope="openid"');
    }
    const [user] = await rowsOf<UserRow>(this.dataSource, USER, [token.user.id]);
    if (user === undefined) throw refused('invalid_token', 'The account is gone');
    return claimsOf(user, token);
  }

  private async token(text: string, ip: string | undefined): Promise<TokenRecord> {
    const token = await this.lookup.token(text);
    if (token === null || token.revoked || token.expiresAt <= Date.now()) {
      throw refused('invalid_token', 'The token is unknown, expired or revoked');
    }
    const client = await this.lookup.client(token.clientId);
    if (client?.usable !== true || !client.addresses.allows(ip)) {
      throw refused('invalid_token', 'The application of the token may not use it here');
    }
    return token;
  }
}

/** In the header, or in the form of a POST (RFC 6750 section 2); never in an address. */
function presentedToken({ method, headers, body }: Request): string {
  const { authorization } = headers;
  const inBody = method === 'POST' ? new OAuthParameters(body).optional('access_token') : undefined;
  if (authorization !== undefined && inBody !== undefined) {
    throw refused('invalid_request', 'The token was sent twice');
  }
  if (inBody !== undefined) return inBody;
  if (authorization === undefined || !/^bearer /i.test(authorization)) throw missing();
  const text = /^bearer +([\w.~+/=-]+) *$/i.exec(authorization)?.[1];
  if (text === undefined) throw refused('invalid_request', 'Authorization must be: Bearer <token>');
  return text;
}

/** RFC 6750 section 3.1: without credentials there is no error code in the challenge. */
function missing(): OAuthError {
  return new OAuthError('invalid_token', 'Send the access token as Authorization: Bearer <token>', {
    headers: { 'WWW-Authenticate': `Bearer realm="${REALM}"` },
  });
}

function refused(error: OAuthErrorName, description: string, more = ''): OAuthError {
  const challenge = `Bearer realm="${REALM}", error="${error}", error_description="${description}"${more}`;
  return new OAuthError(error, description.replaceAll('"', "'"), { headers: { 'WWW-Authenticate': challenge } });
}

/** Section 5.4: which scope asks for which claims. A claim without a value is left out (section 5.3.2). */
function claimsOf(user: UserRow, { identityScopes }: TokenRecord): UserInfoView {
  const { id, username, nickname, avatarUrl, language, email, emailVerified, updatedAt } = user;
  return {
    sub: String(id),
    ...(identityScopes.includes('profile') && {
      name: nickname,
      preferred_username: username,
      ...(avatarUrl !== null && { picture: avatarUrl }),
      ...(language !== null && { locale: language }),
      updated_at: updatedAt,
    }),
    ...(identityScopes.includes('email') && email !== null && { email, email_verified: emailVerified }),
  };
}
