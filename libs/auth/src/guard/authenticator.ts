import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '@gatehouse/platform';
import type { ApiKeyStore } from '../keys/api-key-store.js';
import type { SessionCookie } from '../sessions/session-cookie.js';
import type { SessionStore } from '../sessions/session-store.js';
import type { TokenSigner } from '../tokens/token-signer.js';
import { allows, SCOPES, type Actor } from './actor.js';
import { refuseForeignOrigin } from './same-origin.js';
import type { HttpRequest } from './http-request.js';
import type { KnownUsers } from './known-users.js';

/** Whether credentials are needed at all. An abstract class because it is also the injection token. */
export abstract class AuthPolicy {
  /** The actor of a request without credentials while the service is open; undefined while it is closed. */
  abstract openActor(): Actor | undefined;
}

export interface AuthenticatorParts {
  readonly tokens: TokenSigner | undefined;
  readonly apiKeys: ApiKeyStore | undefined;
  readonly sessions: { store: SessionStore; cookie: SessionCookie; users: KnownUsers } | undefined;
}

/**
 * Identifies the sender of a request: by JWT, API key or session token in the headers, or else by the session cookie.
 */
export class Authenticator {
  private readonly parts: AuthenticatorParts;

  constructor(parts: AuthenticatorParts) {
    this.parts = parts;
  }

  /** The actor; null without any credential; undefined if the credential is not valid. */
  async authenticate(request: HttpRequest): Promise<Actor | null | undefined> {
    const secret = presentedSecret(request.headers);
    if (secret !== undefined) return this.bySecret(secret, request.ip ?? null);
    // Another scheme or a malformed value is a failed attempt, not a visitor without credentials.
    if (request.headers.authorization !== undefined) return undefined;
    return this.byCookie(request);
  }

  /** The same with only the session cookie; headers are ignored. */
  async byCookie(request: HttpRequest): Promise<Actor | null | undefined> {
    const token = this.parts.sessions?.cookie.read(request.headers);
    if (token === undefined) return null;
    const actor = await this.bySession(token, request.ip ?? null);
    if (actor !== undefined) refuseForeignOrigin(request);
    return actor;
  }

  private async bySecret(secret: string, ip: string | null): Promise<Actor | undefined> {
    const { apiKeys, tokens } = this.parts;
    if (apiKeys?.recognizes(secret) === true) return this.byApiKey(apiKeys, secret, ip);
    if (tokens !== undefined && secret.split('.').length === 3) return tokens.verify(secret);
    return this.bySession(secret, ip);
  }

  private async bySession(token: string, ip: string | null): Promise<Actor | undefined> {
    const { sessions } = this.parts;
    const session = await sessions?.store.verify(token, ip);
    if (sessions === undefined || session === undefined) return undefined;
    const user = await sessions.users.find(session.userId);
    if (user === undefined) return undefined;
    return { credential: 'session', credentialId: session.id, userId: session.userId, ...user };
  }

  /** A user's key has no more rights than the user has now, and none if the user is deleted or disabled. */
  private async byApiKey(apiKeys: ApiKeyStore, secret: string, ip: string | null): Promise<Actor | undefined> {
    const key = await apiKeys.verify(secret, ip);
    if (key === undefined) return undefined;
    const { users } = this.parts.sessions ?? {};
    const user = key.userId === null || users === undefined ? null : await users.find(key.userId);
    if (user === undefined) return undefined;
    return {
      credential: 'api_key',
      credentialId: key.id,
      userId: key.userId,
      name: key.name,
      ...(user !== null && { userName: user.name }),
      role: user?.role ?? null,
      scopes: user === null ? key.scopes : SCOPES.filter((scope) => allows(key, scope) && allows(user, scope)),
    };
  }
}

/** The one secret that a request presents in its headers. @throws CREDENTIALS_CONFLICT for two different ones. */
function presentedSecret(headers: IncomingHttpHeaders): string | undefined {
  const bearer = bearerOf(headers.authorization);
  const header = headers['x-api-key'];
  const apiKey = typeof header === 'string' ? header.trim() || undefined : header?.join(',');
  if (bearer !== undefined && apiKey !== undefined && bearer !== apiKey) {
    throw new AppError('CREDENTIALS_CONFLICT', 'Send either Authorization or X-API-Key, not two different credentials');
  }
  return bearer ?? apiKey;
}

/** RFC 6750 section 2.1; another scheme counts as no credential of ours. */
function bearerOf(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  const match = /^bearer +([\w.~+/=-]+) *$/i.exec(authorization);
  return match?.[1];
}
