import { pgPool, UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { intersect, type ClientRecord } from '../credentials/credential-records.js';
import { askable, grantScopes } from '../credentials/grant-scopes.js';
import { Grants } from '../credentials/grants.service.js';
import { SecretHasher } from '../credentials/secret-hasher.js';
import type { IssuedTokens } from './issued-tokens.js';
import { OAuthError } from './oauth-error.js';
import type { OAuthParameters } from './oauth-parameters.js';
import { assertVerifier } from './pkce.js';
import { TokenIssue } from './token-issue.js';

const CODE_BY_HASH = `
  SELECT c.grant_id, c.redirect_uri, c.redirect_uri_sent, c.code_challenge, c.consumed_at IS NOT NULL AS consumed,
    c.expires_at <= now() AS expired, c.nonce, g.application_id, g.user_id, g.scopes,
    extract(epoch FROM g.auth_time)::bigint AS auth_time,
    (g.revoked_at IS NOT NULL OR u.disabled_at IS NOT NULL) AS ended
  FROM authorization_codes c
  JOIN grants g ON g.id = c.grant_id
  JOIN site_accounts u ON u.id = g.user_id
  WHERE c.hash = $1`;

/** A row of CODE_BY_HASH. */
interface CodeRow {
  readonly grant_id: number;
  readonly redirect_uri: string;
  readonly redirect_uri_sent: boolean;
  readonly code_challenge: string | null;
  readonly consumed: boolean;
  readonly expired: boolean;
  readonly application_id: number;
  readonly user_id: number;
  readonly scopes: readonly string[];
  readonly ended: boolean;
  readonly nonce: string | null;
  readonly auth_time: number | null;
}

/** Exchanges authorization codes for tokens, each once (RFC 6749 section 4.1.3). */
@Injectable()
export class CodeExchange {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly hasher: SecretHasher,
    private readonly grants: Grants,
    private readonly issue: TokenIssue,
  ) {}

  /**
   * @throws invalid_grant; a wrong verifier or address does not use up the code, but a second use revokes its grant.
   */
  async exchange(client: ClientRecord, parameters: OAuthParameters): Promise<IssuedTokens> {
    const text = parameters.required('code');
    const redirectUri = parameters.optional('redirect_uri');
    const verifier = parameters.optional('code_verifier');
    const hash = this.hasher.parse('code', text);
    const code = hash === undefined ? undefined : await this.find(hash);
    if (hash === undefined || code?.application_id !== client.id) {
      throw new OAuthError('invalid_grant', 'The code is not known for this application');
    }
    const replayed = code.consumed;
    if (code.expired && !replayed) throw new OAuthError('invalid_grant', 'The code has expired');
    if (code.ended) throw new OAuthError('invalid_grant', 'The authorization has ended');
    assertVerifier(code.code_challenge, verifier);
    assertRedirectUri(code, redirectUri);
    const allowed = intersect(grantScopes(code.scopes), askable(client.allowedScopes));
    const subject = { userId: code.user_id, authTime: code.auth_time, nonce: code.nonce };
    const tokens = replayed
      ? undefined
      : await this.issue.consume('authorization_codes', hash, { granted: code.scopes, allowed, subject });
    return tokens ?? this.refuseReplay(code);
  }

  private async find(hash: Buffer): Promise<CodeRow | undefined> {
    const { rows } = await pgPool(this.dataSource).query<CodeRow>({
      name: 'authorization_code_by_hash',
      text: CODE_BY_HASH,
      values: [hash],
    });
    return rows[0];
  }

  /** RFC 6749 section 4.1.2: the first use may have been that of a thief. */
  private async refuseReplay(code: CodeRow): Promise<never> {
    const { grant_id: grantId } = code;
    await this.unitOfWork.run(async (tx) => {
      const ended = await this.grants.revoke(tx, { grantId }, 'code_replayed');
      if (ended === 0) return;
      await recordEvent(tx, {
        type: 'code.replayed',
        userId: code.user_id,
        applicationId: code.application_id,
        grantId,
      });
    });
    throw new OAuthError('invalid_grant', 'The code was used before; its authorization is revoked');
  }
}

/** RFC 6749 section 4.1.3: the same text as in the authorization request. */
function assertRedirectUri(code: CodeRow, given: string | undefined): void {
  if (given === undefined && !code.redirect_uri_sent) return;
  if (given !== code.redirect_uri) {
    throw new OAuthError('invalid_grant', 'redirect_uri is not that of the authorization request');
  }
}
