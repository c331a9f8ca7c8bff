import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { DataSource, EntityManager } from 'typeorm';
import { oneRow, rowsOf } from '../data/rows-of.js';

export type LinkPurpose = 'verify_email' | 'reset_password';

export interface AccountLink {
  readonly id: string;
  readonly userId: number;
  readonly purpose: LinkPurpose;
  /** Where the link was sent. It does nothing once the account has another address. */
  readonly email: string;
  /** Seconds since the epoch. */
  readonly expiresAt: number;
}

export const LINK_HOURS: Readonly<Record<LinkPurpose, number>> = { verify_email: 24, reset_password: 1 };

const COLUMNS = `id, user_id AS "userId", purpose, email, extract(epoch FROM expires_at)::bigint AS "expiresAt"`;
const TOKEN = /^([0-9a-f-]{36})\.([\w-]{43})$/;

/**
 * What links in mails stand for. A token is the id of its row and a signature over the row, so the database has no
 * secret in it: who can read it cannot make a link.
 */
export class AccountLinks {
  readonly #dataSource: DataSource;
  readonly #keys: readonly Buffer[];

  constructor(secretKeys: readonly Buffer[], dataSource: DataSource) {
    this.#dataSource = dataSource;
    this.#keys = secretKeys.map((key) => Buffer.from(hkdfSync('sha256', key, '', 'resource-sharing links', 32)));
  }

  /** Older links of the account for the same purpose end. */
  async create(tx: EntityManager, link: Pick<AccountLink, 'userId' | 'purpose' | 'email'>): Promise<AccountLink> {
    await this.endAllOf(tx, link.userId, [link.purpose]);
    return oneRow<AccountLink>(
      tx,
      `INSERT INTO account_links (user_id, purpose, email, expires_at)
       VALUES ($1, $2, $3, date_trunc('second', now()) + make_interval(hours => $4)) RETURNING ${COLUMNS}`,
      [link.userId, link.purpose, link.email, LINK_HOURS[link.purpose]],
    );
  }

  async endAllOf(tx: EntityManager, userId: number, purposes: readonly LinkPurpose[]): Promise<void> {
    await tx.query('DELETE FROM account_links WHERE user_id = $1 AND purpose = ANY ($2)', [userId, purposes]);
  }

  /** Undefined if it was used, has expired, or was replaced by another one. */
  async find(id: string): Promise<AccountLink | undefined> {
    return this.#select(
      this.#dataSource,
      `SELECT ${COLUMNS} FROM account_links WHERE id = $1 AND expires_at > now()`,
      id,
    );
  }

  tokenOf(link: AccountLink): string {
    const [newest] = this.#keys;
    if (newest === undefined) throw new RangeError('There is no secret key.');
    return `${link.id}.${signature(newest, link).toString('base64url')}`;
  }

  /** The link of a token that can still be used. */
  async read(token: string, purpose: LinkPurpose): Promise<AccountLink | undefined> {
    const [, id = '', signed = ''] = TOKEN.exec(token) ?? [];
    const link = id === '' ? undefined : await this.find(id);
    if (link?.purpose !== purpose) return undefined;
    const given = Buffer.from(signed, 'base64url');
    return this.#keys.some((key) => timingSafeEqual(given, signature(key, link))) ? link : undefined;
  }

  /** The same, and nobody can use it again. */
  async take(tx: EntityManager, token: string, purpose: LinkPurpose): Promise<AccountLink | undefined> {
    const link = await this.read(token, purpose);
    if (link === undefined) return undefined;
    const removal = `DELETE FROM account_links WHERE id = $1 AND expires_at > now() RETURNING ${COLUMNS}`;
    return this.#select(tx, removal, link.id);
  }

  async #select(runner: DataSource | EntityManager, sql: string, id: string): Promise<AccountLink | undefined> {
    const [link] = await rowsOf<AccountLink>(runner, sql, [id]);
    return link;
  }
}

function signature(key: Buffer, { id, userId, purpose, email, expiresAt }: AccountLink): Buffer {
  return createHmac('sha256', key)
    .update(JSON.stringify([id, userId, purpose, email, expiresAt]))
    .digest();
}
