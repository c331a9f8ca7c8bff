import { hash, randomBytes } from 'node:crypto';
import { notify, pgPool, type PgListener } from '@gatehouse/persistence';
import type { DataSource, EntityManager } from 'typeorm';
import { BoundedCache } from '../cache/bounded-cache.js';
import type { LastUseWriter } from '../keys/last-use-writer.js';

export interface SessionStoreConfig {
  /** Channel on which replicas announce ended sessions. */
  readonly channel: string;
  /** Default: 12 hours. */
  readonly absoluteSeconds?: number;
  /** A session ends this long after its last use. Default: 2 hours. */
  readonly idleSeconds?: number;
  /** Where uses are recorded. Default: nowhere. */
  readonly lastUse?: LastUseWriter;
}

export interface Session {
  readonly id: number;
  readonly userId: number;
  readonly expiresAt: Date;
}

interface Row {
  id: number;
  user_id: number;
  expires_at: Date;
  created_at: Date;
}

const CACHE_MS = 30_000;
const CACHE_ENTRIES = 10_000;
/** A use extends a session at most this often. */
const EXTEND_AFTER_MS = 60_000;
const ALL = '*';

/** Sessions in the table sessions (id, token, user_id, expires_at, created_at); only a hash of the token is stored. */
export class SessionStore {
  private readonly cache = new BoundedCache<Session>(CACHE_ENTRIES);
  private readonly dataSource: DataSource;
  private readonly channel: string;
  private readonly absoluteMs: number;
  private readonly idleMs: number;
  private readonly lastUse: LastUseWriter | undefined;
  private stopListening: (() => Promise<void>) | undefined;

  constructor(dataSource: DataSource, config: SessionStoreConfig) {
    this.dataSource = dataSource;
    this.channel = config.channel;
    this.absoluteMs = (config.absoluteSeconds ?? 12 * 3_600) * 1_000;
    this.idleMs = (config.idleSeconds ?? 2 * 3_600) * 1_000;
    this.lastUse = config.lastUse;
  }

  /** Maximum lifetime of a session: the cookie's Max-Age. */
  get absoluteSeconds(): number {
    return this.absoluteMs / 1_000;
  }

  /** Follows sessions ended by other replicas from now on. */
  async start(listener: PgListener): Promise<void> {
    this.stopListening = await listener.listen(
      this.channel,
      (hashed) => (hashed === ALL ? this.cache.clear() : this.cache.delete(hashed)),
      () => this.cache.clear(),
    );
  }

  async stop(): Promise<void> {
    await this.stopListening?.();
    this.stopListening = undefined;
    await this.lastUse?.stop();
  }

  /**
   * Opens a session; the token is 256 random bits and readable only now. Uses the caller's transaction if one is given.
   */
  async create(userId: number, tx?: EntityManager): Promise<{ token: string; session: Session }> {
    const token = randomBytes(32).toString('base64url');
    const expiresAt = new Date(Date.now() + Math.min(this.idleMs, this.absoluteMs));
    const runner = tx ?? this.dataSource;
    const rows = (await runner.query(
      'INSERT INTO sessions (token, user_id, expires_at, created_at) VALUES ($1, $2, $3, now()) RETURNING id',
      [hashToken(token), userId, expiresAt],
    )) as Pick<Row, 'id'>[];
    await runner.query('DELETE FROM sessions WHERE expires_at < now()');
    return { token, session: { id: rows[0]?.id ?? 0, userId, expiresAt } };
  }

  /** The session of a token, if it is still open; its use extends it. */
  async verify(token: string, ip: string | null = null): Promise<Session | undefined> {
    if (token.length !== 43) return undefined;
    const hashed = hashToken(token);
    const session = this.cache.get(hashed) ?? (await this.load(hashed));
    if (session === undefined || session.expiresAt.getTime() <= Date.now()) return undefined;
    this.lastUse?.note(session.id, ip);
    return session;
  }

  /** Ends one session on every replica. */
  async end(token: string): Promise<void> {
    const hashed = hashToken(token);
    this.cache.delete(hashed);
    await this.dataSource.transaction(async (tx) => {
      await tx.query('DELETE FROM sessions WHERE token = $1', [hashed]);
      await notify(tx, this.channel, hashed);
    });
  }

  /** Ends the session of an id on every replica. */
  async endById(id: number): Promise<void> {
    await this.dataSource.transaction(async (tx) => {
      const [rows] = (await tx.query('DELETE FROM sessions WHERE id = $1 RETURNING token', [id])) as [
        { token: string }[],
      ];
      for (const { token } of rows) {
        this.cache.delete(token);
        await notify(tx, this.channel, token);
      }
    });
  }

  /** Ends all sessions of a user on every replica, in the caller's transaction when one is given. */
  async endAllOf(userId: number, tx?: EntityManager): Promise<void> {
    if (tx === undefined) return this.dataSource.transaction((own) => this.endAllOf(userId, own));
    await tx.query('DELETE FROM sessions WHERE user_id = $1', [userId]);
    this.cache.clear();
    await notify(tx, this.channel, ALL);
  }

  /** Ends the sessions of a user on every replica, but for one, in the caller's transaction. */
  async endOthersOf(userId: number, keptId: number | null, tx: EntityManager): Promise<number> {
    const [rows] = (await tx.query(
      'DELETE FROM sessions WHERE user_id = $1 AND id IS DISTINCT FROM $2::bigint RETURNING token',
      [userId, keptId],
    )) as [{ token: string }[], number];
    for (const { token } of rows) {
      this.cache.delete(token);
      await notify(tx, this.channel, token);
    }
    return rows.length;
  }

  private async load(hashed: string): Promise<Session | undefined> {
    const { generation } = this.cache;
    const { rows } = await pgPool(this.dataSource).query<Row>({
      name: 'session_by_token',
      text: 'SELECT id, user_id, expires_at, created_at FROM sessions WHERE token = $1 AND expires_at > now()',
      values: [hashed],
    });
    const [row] = rows;
    if (row === undefined) return undefined;
    const session = { id: row.id, userId: row.user_id, expiresAt: await this.extend(row) };
    this.cache.set(hashed, session, Date.now() + CACHE_MS, generation);
    return session;
  }

  private async extend(row: Row): Promise<Date> {
    const end = Math.min(Date.now() + this.idleMs, row.created_at.getTime() + this.absoluteMs);
    if (end - row.expires_at.getTime() < Math.min(EXTEND_AFTER_MS, this.idleMs / 2)) return row.expires_at;
    const expiresAt = new Date(end);
    await this.dataSource.query('UPDATE sessions SET expires_at = $2 WHERE id = $1', [row.id, expiresAt]);
    return expiresAt;
  }
}

function hashToken(token: string): string {
  return hash('sha256', token, 'hex');
}
