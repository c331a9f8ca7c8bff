import { pgPool, withLayer } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Batches, MAX_BATCH_SIZE } from '../batches/batches.js';
import {
  CLIENT_COLUMNS,
  toClientRecord,
  toKeyRecord,
  toTokenRecord,
  USER_COLUMNS,
  type ClientRecord,
  type ClientRow,
  type KeyRecord,
  type KeyRow,
  type TokenRecord,
  type TokenRow,
} from './credential-records.js';
import { digestOf } from './presented-secret.js';
import { RevocableCache, type Soon } from './revocable-cache.js';
import { Revocations } from './revocations.js';
import { SecretHasher, SECRET_PREFIX } from './secret-hasher.js';

const KEYS = 10_000;
const TOKENS = 50_000;
const CLIENTS = 10_000;

const KEY_BY_HASH = `
  SELECT c.id, c.kind, c.name, c.scopes, c.ip_allow, c.expires_at, c.revoked_at, ${CLIENT_COLUMNS}, ${USER_COLUMNS}
  FROM credentials c
  LEFT JOIN applications a ON a.id = c.application_id
  LEFT JOIN site_accounts o ON o.id = a.owner_id
  LEFT JOIN site_accounts u ON u.id = coalesce(c.user_id, a.bound_user_id)
  WHERE c.secret_hash = $1`;

const CLIENT_BY_ID = `
  SELECT ${CLIENT_COLUMNS} FROM applications a JOIN site_accounts o ON o.id = a.owner_id WHERE a.client_id = $1`;

/** The condition on the expiry avoids reading the partitions of other days. */
const tokensByHash = (expiry: string, count = 1): string => `
  SELECT t.hash, t.scopes, t.expires_at, g.id AS grant_id, g.application_id, a.client_id,
    g.scopes AS grant_scopes,
    (t.revoked_at IS NOT NULL OR g.revoked_at IS NOT NULL OR (a.auth_level = 'unverified'
      AND g.user_id <> a.owner_id AND g.user_id <> ALL (a.test_user_ids))) AS ended,
    ${USER_COLUMNS}
  FROM access_tokens t
  JOIN grants g ON g.id = t.grant_id
  JOIN applications a ON a.id = g.application_id
  JOIN site_accounts u ON u.id = g.user_id
  WHERE t.hash IN (${Array.from({ length: count }, (_, index) => `$${index + 1}`).join(', ')}) AND t.expires_at ${expiry}`;

/**
 * A statement takes one of these numbers of hashes. With an array instead, PostgreSQL would plan it for each number that
 * comes, which takes longer than the lookup.
 */
const HASHES = [1, 2, 4, 8, 16, MAX_BATCH_SIZE];
const LIVE_TOKENS = HASHES.map((count) => ({
  count,
  name: `live_tokens_by_hash_${count}`,
  text: tokensByHash('> now()', count),
}));

/** Finds credentials by their text: with one cached lookup each, or one prepared statement. Does not check validity. */
@Injectable()
export class CredentialLookup {
  private readonly keys: RevocableCache<KeyRecord>;
  private readonly tokens: RevocableCache<TokenRecord>;
  private readonly clients: RevocableCache<ClientRecord>;

  /** Lookups that arrive while others are under way share a statement. */
  private readonly liveTokens = new Batches<Buffer, TokenRow | undefined>({
    // A batch has one connection, outside the layer of test mode, as tokens are.
    run: (hashes) => withLayer(undefined, () => this.findLive(hashes)),
    splits: () => false,
    keyOf: (hash) => hash,
  });

  constructor(
    private readonly dataSource: DataSource,
    private readonly hasher: SecretHasher,
    revocations: Revocations,
  ) {
    this.keys = new RevocableCache(revocations, KEYS, ({ subjects }) => subjects);
    this.tokens = new RevocableCache(revocations, TOKENS, ({ subjects }) => subjects);
    this.clients = new RevocableCache(revocations, CLIENTS, ({ id, ownerId }) => [
      `application:${id}`,
      `user:${ownerId}`,
    ]);
  }

  /** The application secret, test key or personal key of this text, or null. `connection`: the connection that sent it. */
  key(text: string, connection?: object): Soon<KeyRecord | null> {
    return this.keys.get(digestOf(text, 'key', connection), async () => {
      const hashed = this.hasher.parse(kindOf(text), text);
      const row =
        hashed === undefined ? undefined : await this.first<KeyRow>('credential_by_hash', KEY_BY_HASH, hashed);
      return row === undefined ? null : toKeyRecord(row);
    });
  }

  /** The access token of this text, also an expired one while it is stored; null if there is none. */
  token(text: string, connection?: object): Soon<TokenRecord | null> {
    return this.tokens.get(digestOf(text, 'token', connection), async () => {
      const hashed = this.hasher.parse('access', text);
      if (hashed === undefined) return null;
      const row =
        (await this.liveTokens.submit(hashed)) ??
        (await this.first<TokenRow>('past_token_by_hash', tokensByHash('<= now()'), hashed));
      return row === undefined ? null : toTokenRecord(row);
    });
  }

  /** The application of a public client id, or null. */
  client(clientId: string): Soon<ClientRecord | null> {
    if (clientId.length > 64) return null;
    return this.clients.get(clientId, async () => {
      const row = await this.first<ClientRow>('client_by_id', CLIENT_BY_ID, clientId);
      return row === undefined ? null : toClientRecord(row);
    });
  }

  private async findLive(hashes: readonly Buffer[]): Promise<(TokenRow | undefined)[]> {
    const { count, name, text } = LIVE_TOKENS.find((one) => one.count >= hashes.length) as (typeof LIVE_TOKENS)[number];
    const values = Array.from({ length: count }, (_, index) => hashes[index] ?? hashes[0]);
    const { rows } = await pgPool(this.dataSource).query<TokenRow>({ name, text, values });
    const byHash = new Map(rows.map((row) => [row.hash.toString('latin1'), row]));
    return hashes.map((hash) => byHash.get(hash.toString('latin1')));
  }

  private async first<R extends object>(name: string, text: string, value: Buffer | string): Promise<R | undefined> {
    const { rows } = await pgPool(this.dataSource).query<R>({ name, text, values: [value] });
    return rows[0];
  }
}

function kindOf(text: string): KeyRecord['kind'] {
  if (text.startsWith(SECRET_PREFIX.personal)) return 'personal';
  return text.startsWith(SECRET_PREFIX.test) ? 'test' : 'application';
}
