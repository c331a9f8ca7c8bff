import { BoundedCache } from '../cache/bounded-cache.js';
import type { ApiKeyStore } from '../keys/api-key-store.js';
import type { SessionCookie } from '../sessions/session-cookie.js';
import type { SessionStore } from '../sessions/session-store.js';
import type { TokenSigner } from '../tokens/token-signer.js';
import type { Actor, Scope } from './actor.js';
import { presentedSecret } from './credentials.js';
import { refuseForeignOrigin } from './same-origin.js';
import type { HttpRequest } from './http-request.js';

/** A user as sessions need one. */
export interface SessionUser {
  readonly name: string;
  readonly role: string | null;
  readonly scopes: readonly Scope[];
}

/** The service's users, for sessions. An abstract class because it is also the injection token. */
export abstract class SessionUsers {
  /**
   * The user of an open session; undefined when they are gone or disabled. Answers are kept for 5 s:
   * to shut somebody out at once, end their sessions.
   */
  abstract find(userId: number): Promise<SessionUser | undefined>;
}

/** Whether credentials are asked for at all. An abstract class because it is also the injection token. */
export abstract class AuthPolicy {
  /** The actor of a request without credentials while the service is open; undefined while it is closed. */
  abstract openActor(): Actor | undefined;
}

export interface AuthenticatorParts {
  readonly tokens: TokenSigner | undefined;
  readonly apiKeys: ApiKeyStore | undefined;
  readonly sessions: { store: SessionStore; cookie: SessionCookie; users: SessionUsers } | undefined;
}

const USER_CACHE_MS = 5_000;
const USER_CACHE_ENTRIES = 10_000;

/** Finds out who sent a request: JWT, API key or session token in the headers, else the session cookie. */
export class Authenticator {
  private readonly users = new BoundedCache<SessionUser>(USER_CACHE_ENTRIES);
  private readonly parts: AuthenticatorParts;

  constructor(parts: AuthenticatorParts) {
    this.parts = parts;
  }

  /** The actor, null without any credential, undefined when the credential is not valid. */
  async authenticate(request: HttpRequest): Promise<Actor | null | undefined> {
    const secret = presentedSecret(request.headers);
    if (secret !== undefined) return this.bySecret(secret, request.ip ?? null);
    // Another scheme or a malformed value is a failed try, not a visitor without credentials.
    if (request.headers.authorization !== undefined) return undefined;
    const token = this.parts.sessions?.cookie.read(request.headers);
    if (token === undefined) return null;
    const actor = await this.bySession(token);
    if (actor !== undefined) refuseForeignOrigin(request);
    return actor;
  }

  private async bySecret(secret: string, ip: string | null): Promise<Actor | undefined> {
    const { apiKeys, tokens } = this.parts;
    if (apiKeys?.recognizes(secret) === true) return byApiKey(apiKeys, secret, ip);
    if (tokens !== undefined && secret.split('.').length === 3) return tokens.verify(secret);
    return this.bySession(secret);
  }

  private async bySession(token: string): Promise<Actor | undefined> {
    const { sessions } = this.parts;
    const session = await sessions?.store.verify(token);
    if (sessions === undefined || session === undefined) return undefined;
    const user = await this.findUser(sessions.users, session.userId);
    if (user === undefined) return undefined;
    return { credential: 'session', credentialId: session.id, userId: session.userId, ...user };
  }

  private async findUser(users: SessionUsers, userId: number): Promise<SessionUser | undefined> {
    const known = this.users.get(String(userId));
    if (known !== undefined) return known;
    const user = await users.find(userId);
    if (user !== undefined) this.users.set(String(userId), user, Date.now() + USER_CACHE_MS);
    return user;
  }
}

async function byApiKey(apiKeys: ApiKeyStore, secret: string, ip: string | null): Promise<Actor | undefined> {
  const key = await apiKeys.verify(secret, ip);
  if (key === undefined) return undefined;
  return {
    credential: 'api_key',
    credentialId: key.id,
    userId: key.userId,
    name: key.name,
    role: null,
    scopes: key.scopes,
  };
}
