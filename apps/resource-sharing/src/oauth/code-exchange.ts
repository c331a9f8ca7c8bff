import { pgPool, UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { Row } from '../data/rows-of.js';
import { DataSource } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { intersect, openScopes, type ClientRecord } from '../credentials/credential-records.js';
import { Grants } from '../credentials/grants.service.js';
import { SecretHasher } from '../credentials/secret-hasher.js';
import type { IssuedTokens } from './issued-tokens.js';
import { ACCESS_SECONDS, REFRESH_ABSOLUTE_SECONDS, REFRESH_IDLE_SECONDS } from './lifetimes.js';
import { OAuthError } from './oauth-error.js';
import type { OAuthParameters } from './oauth-parameters.js';
import { assertVerifier } from './pkce.js';

const CODE_BY_HASH = `
  SELECT c.grant_id, c.redirect_uri, c.redirect_uri_sent, c.code_challenge, c.consumed_at IS NOT NULL AS consumed,
    c.expires_at <= now() AS expired, g.application_id, g.user_id, g.scopes,
    (g.revoked_at IS NOT NULL OR u.disabled_at IS NOT NULL) AS ended
  FROM authorization_codes c
  JOIN grants g ON g.id = c.grant_id
  JOIN site_accounts u ON u.id = g.user_id
  WHERE c.hash = $1`;

/** Of any number of exchanges at once, one finds the code unconsumed; its tokens come with the same statement. */
const CONSUME = `
  WITH consumed AS (
    UPDATE authorization_codes SET consumed_at = now()
    WHERE hash = $1 AND consumed_at IS NULL AND expires_at > now() RETURNING grant_id
  ), exchanged AS (
    UPDATE grants g SET exchanged_at = now() FROM consumed WHERE g.id = consumed.grant_id
  ), access AS (
    INSERT INTO access_tokens (hash, grant_id, scopes, expires_at)
    SELECT $2, grant_id, $3::text[], now() + make_interval(secs => $4) FROM consumed
  ), refresh AS (
    INSERT INTO refresh_tokens (hash, grant_id, generation, idle_expires_at, absolute_expires_at)
    SELECT $5, grant_id, 0, now() + make_interval(secs => $6), now() + make_interval(secs => $7) FROM consumed
  )
  SELECT grant_id FROM consumed`;

/** Authorization codes into tokens: once (RFC 6749 section 4.1.3). */
@Injectable()
export class CodeExchange {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly hasher: SecretHasher,
    private readonly grants: Grants,
  ) {}

  /** Raises invalid_grant; a wrong verifier or address does not use the code up, a second use ends its grant. */
  async exchange(client: ClientRecord, parameters: OAuthParameters): Promise<IssuedTokens> {
    const text = parameters.required('code');
    const redirectUri = parameters.optional('redirect_uri');
    const verifier = parameters.optional('code_verifier');
    const hash = this.hasher.parse('code', text);
    const code = hash === undefined ? undefined : await this.find(hash);
    if (hash === undefined || code?.['application_id'] !== client.id) {
      throw new OAuthError('invalid_grant', 'The code is not known for this application');
    }
    const replayed = code['consumed'] === true;
    if (code['expired'] === true && !replayed) throw new OAuthError('invalid_grant', 'The code has expired');
    if (code['ended'] === true) throw new OAuthError('invalid_grant', 'The authorization has ended');
    assertVerifier(code['code_challenge'] as string | null, verifier);
    assertRedirectUri(code, redirectUri);
    const scopes = intersect(openScopes(code['scopes']), client.allowedScopes);
    const tokens = replayed ? undefined : await this.consume(hash, code, scopes);
    return tokens ?? this.refuseReplay(code);
  }

  private async find(hash: Buffer): Promise<Row | undefined> {
    const { rows } = await pgPool(this.dataSource).query<Row>({
      name: 'authorization_code_by_hash',
      text: CODE_BY_HASH,
      values: [hash],
    });
    return rows[0];
  }

  private async consume(hash: Buffer, code: Row, scopes: IssuedTokens['scopes']): Promise<IssuedTokens | undefined> {
    const access = this.hasher.create('access');
    const refresh = this.hasher.create('refresh');
    const { rows } = await pgPool(this.dataSource).query({
      name: 'consume_authorization_code',
      text: CONSUME,
      values: [
        hash,
        access.hash,
        code['scopes'],
        ACCESS_SECONDS,
        refresh.hash,
        REFRESH_IDLE_SECONDS,
        REFRESH_ABSOLUTE_SECONDS,
      ],
    });
    if (rows.length === 0) return undefined;
    return {
      accessToken: access.text,
      refreshToken: refresh.text,
      expiresIn: ACCESS_SECONDS,
      refreshExpiresIn: REFRESH_IDLE_SECONDS,
      scopes,
    };
  }

  /** RFC 6749 section 4.1.2: whoever was first may have been the thief. */
  private async refuseReplay(code: Row): Promise<never> {
    const grantId = code['grant_id'] as number;
    await this.unitOfWork.run(async (tx) => {
      const ended = await this.grants.revoke(tx, { grantId }, 'code_replayed');
      if (ended === 0) return;
      await recordEvent(tx, {
        type: 'code.replayed',
        userId: code['user_id'] as number,
        applicationId: code['application_id'] as number,
        grantId,
      });
    });
    throw new OAuthError('invalid_grant', 'The code was used before; its authorization is revoked');
  }
}

/** RFC 6749 section 4.1.3: the same text as in the authorization request. */
function assertRedirectUri(code: Row, given: string | undefined): void {
  if (given === undefined && code['redirect_uri_sent'] === false) return;
  if (given !== code['redirect_uri']) {
    throw new OAuthError('invalid_grant', 'redirect_uri is not that of the authorization request');
  }
}
