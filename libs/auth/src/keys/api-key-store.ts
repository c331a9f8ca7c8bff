import { notify, pgPool, type PgListener } from '@gatehouse/persistence';
import { AppError, type JsonLogger } from '@gatehouse/platform';
import type { DataSource, EntityManager } from 'typeorm';
import { BoundedCache } from '../cache/bounded-cache.js';
import type { Scope } from '../guard/actor.js';
import { createApiKey, parseApiKey } from './api-key.js';
import { LastUseWriter } from './last-use-writer.js';

/** An API key in lists; the key itself is not stored. */
export interface ApiKeyRecord {
  readonly id: number;
  readonly name: string;
  readonly keyPrefix: string;
  readonly lastFour: string;
  readonly scopes: readonly Scope[];
  readonly userId: number | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly lastUsedIp: string | null;
  readonly revokedAt: Date | null;
}

export interface NewApiKey {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: Date | null;
  readonly userId?: number | null;
}

/** What the guard needs to know about a valid key. */
export interface ApiKeyIdentity {
  readonly id: number;
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly userId: number | null;
  readonly expiresAt: Date | null;
}

export interface ApiKeyStoreConfig {
  /** For example `gpk_`. */
  readonly prefix: string;
  /** Channel on which replicas announce revoked keys. */
  readonly channel: string;
}

const CACHE_MS = 30_000;
const UNKNOWN_CACHE_MS = 5_000;
const CACHE_ENTRIES = 10_000;
/** Columns of an ApiKeyRecord. */
const COLUMNS = `id, name, key_prefix AS "keyPrefix", last_four AS "lastFour", scopes, user_id AS "userId",
  created_at AS "createdAt", expires_at AS "expiresAt", last_used_at AS "lastUsedAt", last_used_ip AS "lastUsedIp",
  revoked_at AS "revokedAt"`;

/** API keys in the table api_keys: created once, looked up by hash, cached briefly, revoked everywhere at once. */
export class ApiKeyStore {
  private readonly cache = new BoundedCache<ApiKeyIdentity | null>(CACHE_ENTRIES);
  private readonly lastUse: LastUseWriter;
  private readonly dataSource: DataSource;
  private readonly config: ApiKeyStoreConfig;
  private stopListening: (() => Promise<void>) | undefined;

  constructor(dataSource: DataSource, config: ApiKeyStoreConfig, logger: JsonLogger) {
    this.dataSource = dataSource;
    this.config = config;
    this.lastUse = new LastUseWriter(dataSource, logger, { table: 'api_keys', id: 'id' });
  }

  /** Follows revocations on other replicas from now on. */
  async start(listener: PgListener): Promise<void> {
    this.stopListening = await listener.listen(
      this.config.channel,
      (hash) => this.cache.delete(hash),
      () => this.cache.clear(),
    );
  }

  async stop(): Promise<void> {
    await this.stopListening?.();
    this.stopListening = undefined;
    await this.lastUse.stop();
  }

  /** True for texts that can be keys of this store. */
  recognizes(text: string): boolean {
    return text.startsWith(this.config.prefix);
  }

  /** The identity of a valid key and undefined for any other; the use is recorded later, in batches. */
  async verify(text: string, ip: string | null): Promise<ApiKeyIdentity | undefined> {
    const parsed = parseApiKey(text, this.config.prefix);
    if (parsed === undefined) return undefined;
    const hash = parsed.hash.toString('hex');
    const cached = this.cache.get(hash);
    const identity = cached === undefined ? await this.load(parsed.hash, hash) : cached;
    if (identity === null || (identity.expiresAt !== null && identity.expiresAt.getTime() <= Date.now())) {
      return undefined;
    }
    this.lastUse.note(identity.id, ip);
    return identity;
  }

  /** Stores a new key and returns it with its record: the only time it can be read. */
  async create(key: NewApiKey, tx?: EntityManager): Promise<{ key: string; record: ApiKeyRecord }> {
    const text = createApiKey(this.config.prefix);
    const parsed = parseApiKey(text, this.config.prefix);
    if (parsed === undefined) throw new TypeError(`API keys cannot begin with ${this.config.prefix}`);
    const [record] = (await (tx ?? this.dataSource).query(
      `INSERT INTO api_keys (name, key_hash, key_prefix, last_four, scopes, user_id, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING ${COLUMNS}`,
      [
        key.name,
        parsed.hash,
        parsed.prefix,
        parsed.lastFour,
        [...key.scopes],
        key.userId ?? null,
        key.expiresAt ?? null,
      ],
    )) as ApiKeyRecord[];
    if (record === undefined) throw new Error('The new API key was not stored.');
    return { key: text, record };
  }

  /**
   * Keys that are not revoked, newest first; those of one user if given. At most 1,000 unless `limit` says otherwise.
   */
  async list(options: { userId?: number; limit?: number; offset?: number } = {}): Promise<ApiKeyRecord[]> {
    return (await this.dataSource.query(
      `SELECT ${COLUMNS} FROM api_keys
       WHERE revoked_at IS NULL AND ($1::bigint IS NULL OR user_id = $1) ORDER BY id DESC LIMIT $2 OFFSET $3`,
      [options.userId ?? null, options.limit ?? 1_000, options.offset ?? 0],
    )) as ApiKeyRecord[];
  }

  /** Total number of keys for `list()`. */
  async count(options: { userId?: number } = {}): Promise<number> {
    const rows = (await this.dataSource.query(
      `SELECT count(*)::integer AS count FROM api_keys WHERE revoked_at IS NULL AND ($1::bigint IS NULL OR user_id = $1)`,
      [options.userId ?? null],
    )) as { count: number }[];
    return rows[0]?.count ?? 0;
  }

  /** Revokes a key on every replica. @throws NOT_FOUND if there is none, or if it belongs to another user. */
  async revoke(id: number, options: { userId?: number; tx?: EntityManager } = {}): Promise<ApiKeyRecord> {
    if (options.tx === undefined) {
      return this.dataSource.transaction((tx) => this.revoke(id, { ...options, tx }));
    }
    const [rows] = (await options.tx.query(
      `UPDATE api_keys SET revoked_at = now()
       WHERE id = $1 AND revoked_at IS NULL AND ($2::bigint IS NULL OR user_id = $2)
       RETURNING ${COLUMNS}, encode(key_hash, 'hex') AS hash`,
      [id, options.userId ?? null],
    )) as [(ApiKeyRecord & { hash: string })[], number];
    const [row] = rows;
    if (row === undefined) throw new AppError('NOT_FOUND', `There is no API key ${id}`);
    const { hash, ...record } = row;
    this.cache.delete(hash);
    await notify(options.tx, this.config.channel, hash);
    return record;
  }

  /** Revokes all keys of a user on every replica, in the caller's transaction. */
  async revokeAllOf(userId: number, tx: EntityManager): Promise<void> {
    const [rows] = (await tx.query(
      `UPDATE api_keys SET revoked_at = now() WHERE user_id = $1 AND revoked_at IS NULL
       RETURNING encode(key_hash, 'hex') AS hash`,
      [userId],
    )) as [{ hash: string }[], number];
    for (const { hash } of rows) {
      this.cache.delete(hash);
      await notify(tx, this.config.channel, hash);
    }
  }

  /** Records the collected uses. */
  async flushLastUse(): Promise<void> {
    await this.lastUse.flush();
  }

  private async load(hash: Buffer, cacheKey: string): Promise<ApiKeyIdentity | null> {
    const { generation } = this.cache;
    const { rows } = await pgPool(this.dataSource).query<ApiKeyIdentity>({
      name: 'api_key_by_hash',
      text: `SELECT id, name, scopes, user_id AS "userId", expires_at AS "expiresAt" FROM api_keys
        WHERE key_hash = $1 AND revoked_at IS NULL`,
      values: [hash],
    });
    const identity = rows[0] ?? null;
    const lifetime = identity === null ? UNKNOWN_CACHE_MS : CACHE_MS;
    this.cache.set(cacheKey, identity, Date.now() + lifetime, generation);
    return identity;
  }
}
