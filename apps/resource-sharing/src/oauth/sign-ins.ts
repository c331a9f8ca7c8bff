import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { rowsOf } from '../data/rows-of.js';
import { refusedAt, type AuthorizationRequest } from './authorization-request.js';
import { IdTokens } from './id-tokens.js';
import { isSilent, type IdentityRequest } from './identity-request.js';
import { OAuthError } from './oauth-error.js';

/** How long a login may take that a request asked for. */
const LOGIN_SECONDS = 600;

/** Who is logged in while a request is decided. */
export interface SignedIn {
  readonly userId: number;
  readonly sessionId: number | null;
}

/** The request wants a newer login, or that of another user. */
export class SignInNeeded extends OAuthError {
  /** The present, in seconds since the epoch: a login after it will do. */
  readonly after: number;

  constructor(after: number) {
    super('login_required', 'The user has to log in for this request');
    this.after = after;
  }
}

interface Times {
  readonly at: number;
  readonly now: number;
}

/** Whether the login of a user is what an authorization request asks for (OpenID Connect Core section 3.1.2.3). */
@Injectable()
export class SignIns {
  constructor(
    private readonly dataSource: DataSource,
    private readonly idTokens: IdTokens,
  ) {}

  /** @throws SignInNeeded, or AuthorizationRefused if another login would change nothing or may not be asked for. */
  async check(request: AuthorizationRequest, { userId, sessionId }: SignedIn): Promise<void> {
    const { identity } = request;
    if (identity === undefined) return;
    const expected = await this.expected(request, identity);
    const { at, now } = await this.times(userId, sessionId);
    const isRepeated = wasRepeated(identity, at, now);
    const isOther = expected !== undefined && expected !== String(userId);
    if (!isOther && (isRepeated || isFresh(identity, at, now))) return;
    const needed = new SignInNeeded(now);
    throw isSilent(identity) || (isOther && isRepeated) ? refusedAt(request, needed) : needed;
  }

  private async expected(request: AuthorizationRequest, identity: IdentityRequest): Promise<string | undefined> {
    if (identity.idTokenHint === undefined) return undefined;
    try {
      return await this.idTokens.subjectOf(identity.idTokenHint, request.application.clientId);
    } catch (error) {
      throw error instanceof OAuthError ? refusedAt(request, error) : error;
    }
  }

  /** By one clock; a session that has ended in the meantime began in 1970. */
  private async times(userId: number, sessionId: number | null): Promise<Times> {
    const [row] = await rowsOf<Times>(
      this.dataSource,
      `SELECT coalesce(extract(epoch FROM (SELECT created_at FROM sessions WHERE id = $1 AND user_id = $2)), 0)::float8 AS at,
         extract(epoch FROM now())::float8 AS now`,
      [sessionId, userId],
    );
    return row ?? { at: 0, now: 0 };
  }
}

/** The user has logged in since the request was first seen; an old address proves nothing. */
function wasRepeated({ signedInAfter }: IdentityRequest, at: number, now: number): boolean {
  return signedInAfter !== undefined && at >= signedInAfter && now - signedInAfter < LOGIN_SECONDS;
}

function isFresh({ prompts, maxAge }: IdentityRequest, at: number, now: number): boolean {
  return !prompts.has('login') && (maxAge === undefined || (maxAge > 0 && now - at <= maxAge));
}
