import { SecretBoxError, type SecretBox } from '@gatehouse/persistence';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** Injection token of what seals kept answers. */
export const ANSWER_BOX = Symbol('AnswerBox');

/** A request that says under which key it may be repeated. */
export interface KeyedRequest {
  /** Keys of different credentials are different keys. */
  actor: string;
  key: string;
  /** Of method, address and body: a repeat is the same request. */
  hash: string;
}

export type Claim =
  /** Nobody used the key: the caller carries the request out. */
  { state: 'new' } | { state: 'running' } | { state: 'other' } | { state: 'answered'; answer: unknown };

interface Row {
  request_hash: string;
  sealed_answer: string | null;
}

const KEPT = `interval '24 hours'`;
/** A running request says so at every one of these. */
const RUNNING_MS = 30_000;
/** A request that has said nothing for this long died with its process. */
const ABANDONED = `interval '2 minutes'`;
/** One of so many claims also removes what is too old. */
const SWEEP_EVERY = 100;

/** Answers to keyed requests, for a day, shared by replicas. They are sealed: one may hold a key that is shown once. */
@Injectable()
export class IdempotencyStore {
  private readonly logger = new Logger(IdempotencyStore.name);
  private claims = 0;

  constructor(
    private readonly dataSource: DataSource,
    @Inject(ANSWER_BOX) private readonly box: SecretBox,
  ) {}

  async claim({ actor, key, hash }: KeyedRequest): Promise<Claim> {
    if (this.claims++ % SWEEP_EVERY === 0) await this.sweep();
    const taken: unknown[] = await this.dataSource.query(
      `INSERT INTO idempotency_keys AS kept (actor, key, request_hash) VALUES ($1, $2, $3)
       ON CONFLICT (actor, key) DO UPDATE SET request_hash = excluded.request_hash, sealed_answer = NULL, created_at = now()
       WHERE kept.created_at < now() - ${KEPT}
         OR (kept.sealed_answer IS NULL AND kept.created_at < now() - ${ABANDONED})
       RETURNING key`,
      [actor, key, this.box.seal(hash, idempotencyPlace(actor, key))],
    );
    if (taken.length > 0) return { state: 'new' };
    const [row]: Row[] = await this.dataSource.query(
      'SELECT request_hash, sealed_answer FROM idempotency_keys WHERE actor = $1 AND key = $2',
      [actor, key],
    );
    if (row === undefined) return { state: 'running' };
    if (!this.isOf({ actor, key, hash }, row)) return { state: 'other' };
    if (row.sealed_answer === null) return { state: 'running' };
    return { state: 'answered', answer: JSON.parse(this.box.open(row.sealed_answer, idempotencyPlace(actor, key))) };
  }

  /** Keeps the claim for as long as the work takes: updating the geo databases may take ten minutes. */
  async hold<T>({ actor, key }: KeyedRequest, work: () => Promise<T>): Promise<T> {
    const sql =
      'UPDATE idempotency_keys SET created_at = now() WHERE actor = $1 AND key = $2 AND sealed_answer IS NULL';
    const timer = setInterval(() => {
      this.dataSource.query(sql, [actor, key]).catch((error: unknown) => {
        this.logger.warn('A running request could not keep its Idempotency-Key', error);
      });
    }, RUNNING_MS);
    timer.unref();
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  }

  async remember({ actor, key }: KeyedRequest, answer: unknown): Promise<void> {
    await this.dataSource.query('UPDATE idempotency_keys SET sealed_answer = $3 WHERE actor = $1 AND key = $2', [
      actor,
      key,
      this.box.seal(JSON.stringify(answer ?? null), idempotencyPlace(actor, key)),
    ]);
  }

  /** A request that failed changed nothing, so its key may be used for another try. */
  async release({ actor, key }: KeyedRequest): Promise<void> {
    await this.dataSource.query(
      'DELETE FROM idempotency_keys WHERE actor = $1 AND key = $2 AND sealed_answer IS NULL',
      [actor, key],
    );
  }

  /** Sealed as answers are: a plain hash tells whether a guess at a password in the request is right. */
  private isOf({ actor, key, hash }: KeyedRequest, { request_hash: sealed }: Row): boolean {
    try {
      return this.box.open(sealed, idempotencyPlace(actor, key)) === hash;
    } catch (error) {
      // Of another GATEHOUSE_SECRET_KEY, or not sealed yet: whose request it was cannot be told, so it is not repeated.
      if (error instanceof SecretBoxError) return false;
      throw error;
    }
  }

  private async sweep(): Promise<void> {
    await this.dataSource.query(`DELETE FROM idempotency_keys WHERE created_at < now() - ${KEPT}`);
  }
}

/** An answer of one request does not open as that of another. */
export function idempotencyPlace(actor: string, key: string): string {
  return `idempotency_keys:${actor}:${key}`;
}
