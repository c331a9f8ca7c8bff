import { pgPool, SecretBoxError, UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { intersect, type ClientRecord } from '../credentials/credential-records.js';
import { askable, grantScopes, type GrantScope } from '../credentials/grant-scopes.js';
import { Grants } from '../credentials/grants.service.js';
import { SecretHasher } from '../credentials/secret-hasher.js';
import type { IssuedTokens } from './issued-tokens.js';
import { ACCESS_SECONDS, GRACE_SECONDS, REFRESH_IDLE_SECONDS } from './lifetimes.js';
import { OAuthError } from './oauth-error.js';
import type { OAuthParameters } from './oauth-parameters.js';
import { readScope } from './scopes.js';

/** One statement consumes the token, records its successor and inserts the new pair, or does nothing. */
const ROTATE = `
  WITH consumed AS (
    UPDATE refresh_tokens t SET consumed_at = now(), successor_hash = $2, successor_sealed = $3
    FROM grants g
    JOIN applications a ON a.id = g.application_id
    JOIN site_accounts u ON u.id = g.user_id
    WHERE t.hash = $1 AND t.consumed_at IS NULL AND t.idle_expires_at > now() AND t.absolute_expires_at > now()
      AND g.id = t.grant_id AND g.application_id = $4 AND g.revoked_at IS NULL AND u.disabled_at IS NULL
      AND (a.auth_level <> 'unverified' OR g.user_id = a.owner_id OR g.user_id = ANY (a.test_user_ids))
      AND ($5::text[] IS NULL OR g.scopes @> $5::text[])
    RETURNING t.grant_id, t.generation, t.absolute_expires_at, g.scopes, g.user_id, g.auth_time
  ), refresh AS (
    INSERT INTO refresh_tokens (hash, grant_id, generation, idle_expires_at, absolute_expires_at)
    SELECT $2, grant_id, generation + 1, least(now() + make_interval(secs => $6), absolute_expires_at), absolute_expires_at
    FROM consumed RETURNING idle_expires_at
  ), access AS (
    INSERT INTO access_tokens (hash, grant_id, scopes, expires_at)
    SELECT $7, grant_id, coalesce($5::text[], scopes), now() + make_interval(secs => $8) FROM consumed
  )
  SELECT consumed.scopes, consumed.user_id, extract(epoch FROM consumed.auth_time)::bigint AS auth_time,
    extract(epoch FROM refresh.idle_expires_at - now())::integer AS refresh_seconds
  FROM consumed CROSS JOIN refresh`;

/** The state of a token that could not be rotated. */
const STATE = `
  SELECT t.grant_id, g.application_id, g.user_id, g.scopes, extract(epoch FROM g.auth_time)::bigint AS auth_time,
    t.consumed_at IS NOT NULL AS consumed,
    (t.idle_expires_at <= now() OR t.absolute_expires_at <= now()) AS expired,
    (g.revoked_at IS NOT NULL OR u.disabled_at IS NOT NULL OR (a.auth_level = 'unverified'
      AND g.user_id <> a.owner_id AND g.user_id <> ALL (a.test_user_ids))) AS ended,
    t.successor_sealed, s.consumed_at IS NULL AS successor_unused,
    extract(epoch FROM now() - t.consumed_at)::integer AS consumed_seconds,
    extract(epoch FROM s.idle_expires_at - now())::integer AS refresh_seconds
  FROM refresh_tokens t
  JOIN grants g ON g.id = t.grant_id
  JOIN applications a ON a.id = g.application_id
  JOIN site_accounts u ON u.id = g.user_id
  LEFT JOIN refresh_tokens s ON s.hash = t.successor_hash
  WHERE t.hash = $1`;

/** A row of ROTATE. */
interface RotatedRow {
  readonly user_id: number;
  /** In seconds since the epoch. */
  readonly auth_time: number | null;
  readonly scopes: readonly string[];
  /** Time until the new refresh token expires unless it is used. */
  readonly refresh_seconds: number;
}

interface ConsumedRow {
  readonly consumed: true;
  readonly consumed_seconds: number;
}

interface UnconsumedRow {
  readonly consumed: false;
  readonly consumed_seconds: null;
}

/** A row of STATE. */
type StateRow = (ConsumedRow | UnconsumedRow) & {
  readonly grant_id: number;
  readonly application_id: number;
  readonly user_id: number;
  readonly auth_time: number | null;
  readonly scopes: readonly string[];
  readonly expired: boolean;
  readonly ended: boolean;
  readonly successor_sealed: string | null;
  readonly successor_unused: boolean;
  /** Null if there is no successor. */
  readonly refresh_seconds: number | null;
};

interface Successor {
  readonly access: string;
  readonly refresh: string;
  readonly scopes: readonly GrantScope[] | null;
}

/**
 * Exchanges refresh tokens for new pairs. Each can be used once; within the grace window its direct successor is
 * returned again, and a later use revokes the grant (RFC 9700 section 4.14).
 */
@Injectable()
export class RefreshRotation {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly hasher: SecretHasher,
    private readonly grants: Grants,
  ) {}

  /**
   * @throws invalid_grant (OPENAPI_REAUTH_REQUIRED in the envelope: only a new authorization helps) or invalid_scope.
   */
  async refresh(client: ClientRecord, parameters: OAuthParameters): Promise<IssuedTokens> {
    const text = parameters.required('refresh_token');
    const scopes = readScope(parameters.optional('scope')) ?? null;
    const hash = this.hasher.parse('refresh', text);
    if (hash === undefined) throw dead('The refresh token is not known for this application');
    return (await this.rotate(client, { text, hash, scopes })) ?? this.explain(client, { text, hash, scopes });
  }

  private async rotate(client: ClientRecord, { text, hash, scopes }: Presented): Promise<IssuedTokens | undefined> {
    const access = this.hasher.create('access');
    const refresh = this.hasher.create('refresh');
    const successor: Successor = { access: access.text, refresh: refresh.text, scopes };
    const { rows } = await pgPool(this.dataSource).query<RotatedRow>({
      name: 'rotate_refresh_token',
      text: ROTATE,
      values: [
        hash,
        refresh.hash,
        this.hasher.boxOf(text).seal(JSON.stringify(successor)),
        client.id,
        scopes,
        REFRESH_IDLE_SECONDS,
        access.hash,
        ACCESS_SECONDS,
      ],
    });
    const [row] = rows;
    if (row === undefined) return undefined;
    return toTokens(client, successor, row, ACCESS_SECONDS);
  }

  private async explain(client: ClientRecord, { text, hash, scopes }: Presented): Promise<IssuedTokens> {
    const { rows } = await pgPool(this.dataSource).query<StateRow>({
      name: 'refresh_token_state',
      text: STATE,
      values: [hash],
    });
    const [state] = rows;
    if (state === undefined || state.application_id !== client.id) {
      throw dead('The refresh token is not known for this application');
    }
    if (state.ended) throw dead('The authorization has ended');
    if (state.consumed) return this.repeat(client, text, state);
    if (state.expired) throw dead('The refresh token has expired');
    if (scopes !== null && !scopes.every((scope) => grantScopes(state.scopes).includes(scope))) {
      throw new OAuthError('invalid_scope', 'A refresh may not ask for more than was granted');
    }
    throw dead('The refresh token is not valid');
  }

  /** Returns the same successor for a repetition within the grace window, and otherwise revokes the family. */
  private async repeat(client: ClientRecord, text: string, state: StateRow & ConsumedRow): Promise<IssuedTokens> {
    const { consumed_seconds: seconds, successor_sealed: sealed, refresh_seconds } = state;
    if (seconds <= GRACE_SECONDS && state.successor_unused && sealed !== null && refresh_seconds !== null) {
      const successor = this.open(text, sealed);
      const row = { ...state, refresh_seconds };
      if (successor !== undefined) return toTokens(client, successor, row, ACCESS_SECONDS - seconds);
    }
    await this.endFamily(state);
    throw dead('The refresh token was used before; its authorization is revoked');
  }

  private open(text: string, sealed: string): Successor | undefined {
    try {
      return JSON.parse(this.hasher.boxOf(text).open(sealed)) as Successor;
    } catch (error) {
      // Sealed with another secret key, so it cannot be used.
      if (error instanceof SecretBoxError) return undefined;
      throw error;
    }
  }

  private async endFamily(state: StateRow): Promise<void> {
    const { grant_id: grantId } = state;
    await this.unitOfWork.run(async (tx) => {
      const ended = await this.grants.revoke(tx, { grantId }, 'refresh_reused');
      if (ended === 0) return;
      await recordEvent(tx, {
        type: 'refresh.reused',
        userId: state.user_id,
        applicationId: state.application_id,
        grantId,
      });
    });
  }
}

interface Presented {
  readonly text: string;
  readonly hash: Buffer;
  /** Null: all granted scopes. */
  readonly scopes: readonly GrantScope[] | null;
}

function toTokens(client: ClientRecord, successor: Successor, row: RotatedRow, expiresIn: number): IssuedTokens {
  return {
    accessToken: successor.access,
    refreshToken: successor.refresh,
    expiresIn,
    refreshExpiresIn: row.refresh_seconds,
    scopes: intersect(successor.scopes ?? grantScopes(row.scopes), askable(client.allowedScopes)),
    subject: { userId: row.user_id, authTime: row.auth_time, nonce: null },
  };
}

function dead(description: string): OAuthError {
  return new OAuthError('invalid_grant', description, { code: 'OPENAPI_REAUTH_REQUIRED' });
}
