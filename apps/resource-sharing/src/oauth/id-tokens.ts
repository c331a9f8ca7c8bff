import { hash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { compactVerify, errors, importJWK, SignJWT, type CompactJWSHeaderParameters, type CryptoKey } from 'jose';
import { ID_TOKEN_SECONDS, IdentityKeys } from '../identity/identity-keys.js';
import { ID_TOKEN_ALGORITHM } from '../identity/new-identity-key.js';
import { ResourceSharingSettings } from '../settings.js';
import type { IssuedTokens } from './issued-tokens.js';
import { issuerOf } from './issuer.js';
import { OAuthError } from './oauth-error.js';

/** Issues id_tokens (OpenID Connect Core section 2), and reads those that come back as hints. */
@Injectable()
export class IdTokens {
  readonly issuer: string;

  constructor(
    private readonly keys: IdentityKeys,
    settings: ResourceSharingSettings,
  ) {
    this.issuer = issuerOf(settings);
  }

  /** The tokens with an id_token, if `openid` is among their scopes. */
  async addTo(tokens: IssuedTokens, clientId: string): Promise<IssuedTokens> {
    if (!tokens.scopes.includes('openid')) return tokens;
    const { userId, authTime, nonce } = tokens.subject;
    const { kid, key } = await this.keys.signing();
    const issuedAt = Math.floor(Date.now() / 1_000);
    const claims = {
      at_hash: halfHash(tokens.accessToken),
      ...(authTime === null ? {} : { auth_time: authTime }),
      ...(nonce === null ? {} : { nonce }),
    };
    const idToken = await new SignJWT(claims)
      .setProtectedHeader({ alg: ID_TOKEN_ALGORITHM, typ: 'JWT', kid })
      .setIssuer(this.issuer)
      .setSubject(String(userId))
      .setAudience(clientId)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ID_TOKEN_SECONDS)
      .sign(key);
    return { ...tokens, idToken };
  }

  /**
   * The user of an `id_token_hint`, also of an expired one. @throws invalid_request for one of another issuer or application,
   * or with a key that is no longer published.
   */
  async subjectOf(hint: string, clientId: string): Promise<string> {
    const claims = await this.verified(hint);
    if (claims?.['iss'] === this.issuer && claims['aud'] === clientId && typeof claims['sub'] === 'string') {
      return claims['sub'];
    }
    throw new OAuthError('invalid_request', 'id_token_hint is not an id_token of this application');
  }

  private async verified(token: string): Promise<Record<string, unknown> | undefined> {
    try {
      const { payload } = await compactVerify(token, (header) => this.publicKey(header), {
        algorithms: [ID_TOKEN_ALGORITHM],
      });
      return JSON.parse(Buffer.from(payload).toString('utf8')) as Record<string, unknown>;
    } catch (error) {
      if (error instanceof errors.JOSEError || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  private async publicKey({ kid }: CompactJWSHeaderParameters): Promise<CryptoKey | Uint8Array> {
    const jwk = (await this.keys.published()).find((known) => known.kid === kid);
    if (jwk === undefined) throw new errors.JWKSNoMatchingKey();
    return importJWK(jwk, ID_TOKEN_ALGORITHM);
  }
}

/** `at_hash` (section 3.1.3.6): the left half of the hash that the signature uses. */
function halfHash(text: string): string {
  return hash('sha256', text, 'buffer').subarray(0, 16).toString('base64url');
}
