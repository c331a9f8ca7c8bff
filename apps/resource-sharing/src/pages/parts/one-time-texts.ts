import { hkdfSync } from 'node:crypto';
import { createSecretBox, SecretBoxError, type SecretBox } from '@gatehouse/persistence';
import type { Request } from 'express';
import type { DataSource } from 'typeorm';
import { rowsOf } from '../../data/rows-of.js';
import type { Member } from '../../wire/visitor.js';

/** Browsers follow a redirect at once. */
const HOLDS_SECONDS = 120;

/**
 * Texts that a form created and only the next page shows, such as a new secret: a form answers with a redirect, so that
 * a reload does not send it again. They are stored in the database for the replica that serves the page, sealed with a
 * key of the session, for at most two minutes.
 */
export class OneTimeTexts {
  readonly #secretKeys: readonly Buffer[];
  readonly #dataSource: DataSource;

  constructor(secretKeys: readonly Buffer[], dataSource: DataSource) {
    this.#secretKeys = secretKeys;
    this.#dataSource = dataSource;
  }

  /** Stores a text for this session and this page, and replaces one that was not fetched. */
  async keep({ sessionId }: Member, page: string, text: string): Promise<void> {
    const sealed = this.#boxOf(sessionId).seal(text);
    await this.#dataSource.query('DELETE FROM one_time_texts WHERE expires_at <= now()');
    await this.#dataSource.query(
      `INSERT INTO one_time_texts (session_id, page, sealed, expires_at)
       VALUES ($1, $2, $3, now() + make_interval(secs => $4))
       ON CONFLICT (session_id, page) DO UPDATE SET sealed = excluded.sealed, expires_at = excluded.expires_at`,
      [sessionId, page, sealed, HOLDS_SECONDS],
    );
  }

  /** The text that is waiting for this page; only the first time, and only if a person opens the page. */
  async take({ sessionId }: Member, page: string, request: Request): Promise<string | undefined> {
    // A prefetched page may never be seen.
    if (request.method !== 'GET' || request.headers['sec-purpose'] !== undefined) return undefined;
    const [row] = await rowsOf<{ sealed: string }>(
      this.#dataSource,
      `WITH taken AS (DELETE FROM one_time_texts WHERE session_id = $1 AND page = $2 RETURNING sealed, expires_at)
       SELECT sealed FROM taken WHERE expires_at > now()`,
      [sessionId, page],
    );
    return row === undefined ? undefined : this.#opened(sessionId, row.sealed);
  }

  #opened(sessionId: number, sealed: string): string | undefined {
    try {
      return this.#boxOf(sessionId).open(sealed);
    } catch (error) {
      // The secret key has changed in the meantime.
      if (error instanceof SecretBoxError) return undefined;
      throw error;
    }
  }

  #boxOf(sessionId: number): SecretBox {
    const info = `resource-sharing one-time text of session ${sessionId}`;
    return createSecretBox(this.#secretKeys.map((key) => Buffer.from(hkdfSync('sha256', key, '', info, 32))));
  }
}
