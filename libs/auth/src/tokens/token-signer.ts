import { hash, type KeyObject } from 'node:crypto';
import type { PgListener, SecretBox } from '@gatehouse/persistence';
import jwt from 'jsonwebtoken';
import type { DataSource, EntityManager } from 'typeorm';
import { BoundedCache } from '../cache/bounded-cache.js';
import { SCOPES, type Actor, type Scope } from '../guard/actor.js';
import { JwtStrategy, type TokenClaims } from './jwt-strategy.js';
import { SigningKeys, type SigningKey } from './signing-keys.js';

export interface TokenSignerConfig {
  /** Issuer and audience of the tokens: the service's name. */
  readonly issuer: string;
  /** Channel on which replicas announce a new key. */
  readonly channel: string;
}

export interface TokenSubject {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly userId?: number;
  readonly role?: string;
}

const CACHE_MS = 30_000;
const CACHE_ENTRIES = 5_000;
/** A token with an unknown key id may come from a replica that has just rotated; asking more often would not help. */
const RELOAD_MS = 1_000;

/** Issues and verifies JWTs (HS256) with a key that this service's replicas share. */
export class TokenSigner {
  private readonly keys: SigningKeys;
  private readonly strategy: JwtStrategy;
  private readonly cache = new BoundedCache<{ actor: Actor; expiresAt: number }>(CACHE_ENTRIES);
  private readonly dataSource: DataSource;
  private readonly config: TokenSignerConfig;
  private present: Promise<SigningKey> | undefined;
  private loadedAt = 0;
  private stopListening: (() => Promise<void>) | undefined;

  constructor(dataSource: DataSource, box: SecretBox, config: TokenSignerConfig) {
    this.dataSource = dataSource;
    this.config = config;
    this.keys = new SigningKeys(dataSource, box, config.channel);
    this.strategy = new JwtStrategy({ issuer: config.issuer, keyFor: (id) => this.keyFor(id) });
  }

  /** Loads or creates the key and follows rotations on other replicas from now on. */
  async start(listener: PgListener): Promise<void> {
    this.stopListening = await listener.listen(
      this.config.channel,
      () => this.forget(),
      () => this.forget(),
    );
    await this.key();
  }

  async stop(): Promise<void> {
    await this.stopListening?.();
    this.stopListening = undefined;
  }

  /** A signed token and its expiry. */
  async issue(subject: TokenSubject, ttlSeconds: number): Promise<{ token: string; expiresAt: Date }> {
    const { id, key } = await this.key();
    const claims = {
      scope: subject.scopes.join(' '),
      ...(subject.userId === undefined ? {} : { uid: subject.userId }),
      ...(subject.role === undefined ? {} : { role: subject.role }),
    };
    const token = jwt.sign(claims, key, {
      algorithm: 'HS256',
      keyid: String(id),
      issuer: this.config.issuer,
      audience: this.config.issuer,
      subject: subject.name,
      expiresIn: ttlSeconds,
    });
    return { token, expiresAt: new Date(Date.now() + ttlSeconds * 1_000) };
  }

  /** The user of a bearer token, or undefined if it is not valid. Verified tokens are cached for 30 s. */
  async verify(token: string): Promise<Actor | undefined> {
    const cacheKey = hash('sha256', token, 'base64');
    const cached = this.cache.get(cacheKey);
    if (cached !== undefined && cached.expiresAt > Date.now()) return cached.actor;
    const { generation } = this.cache;
    const claims = await this.strategy.claimsOf(token);
    if (claims === undefined) return undefined;
    const actor = toActor(claims);
    const expiresAt = claims.exp * 1_000;
    this.cache.set(cacheKey, { actor, expiresAt }, Math.min(expiresAt, Date.now() + CACHE_MS), generation);
    return actor;
  }

  /** Logs out all users: no replica accepts an earlier token. */
  async rotate(tx?: EntityManager): Promise<void> {
    if (tx === undefined) await this.dataSource.transaction((own) => this.keys.rotate(own));
    else await this.keys.rotate(tx);
    this.forget();
  }

  private async key(): Promise<SigningKey> {
    if (this.present === undefined) {
      const loading = this.keys.current();
      this.present = loading;
      this.loadedAt = Date.now();
      loading.catch(() => {
        if (this.present === loading) this.present = undefined;
      });
    }
    return this.present;
  }

  private async keyFor(keyId: string | undefined): Promise<KeyObject | undefined> {
    let key = await this.key();
    if (String(key.id) !== keyId && Date.now() - this.loadedAt > RELOAD_MS) {
      this.forget();
      key = await this.key();
    }
    return String(key.id) === keyId ? key.key : undefined;
  }

  private forget(): void {
    this.present = undefined;
    this.cache.clear();
  }
}

function toActor(claims: TokenClaims): Actor {
  const granted = claims.scope.split(' ');
  return Object.freeze({
    credential: 'token',
    credentialId: null,
    userId: claims.uid ?? null,
    name: claims.sub,
    role: claims.role ?? null,
    scopes: SCOPES.filter((scope) => granted.includes(scope)),
  });
}
