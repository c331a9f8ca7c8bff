import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { SecretBoxError, type SecretBox } from '@gatehouse/persistence';
import { idempotencyKeyLost } from '@gatehouse/platform';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager, type QueryRunner } from 'typeorm';

/** Injection token of the box that seals stored answers. */
export const ANSWER_BOX = Symbol('AnswerBox');

/** A request with a key under which it can be repeated. */
export interface KeyedRequest {
  /** Keys of different credentials are different keys. */
  actor: string;
  key: string;
  /** Hash of method, address and body. It must be equal in a repeat. */
  hash: string;
}

/** A keyed request that is being executed. A caller that takes over the key has another `claim`. */
export interface ClaimedRequest extends KeyedRequest {
  claim: string;
}

export type Claim =
  /** The key is free: the caller executes the request. */
  | { state: 'new'; claimed: ClaimedRequest }
  | { state: 'running' }
  | { state: 'other' }
  /** The request was executed, at least in part, and its answer is not known. */
  | { state: 'lost' }
  | { state: 'answered'; answer: unknown };

interface Row {
  request_hash: string;
  sealed_answer: string | null;
  carried_out: boolean;
  abandoned: boolean;
}

const KEPT = `interval '24 hours'`;
/** How often a running request renews its claim. */
const RUNNING_MS = 5_000;
/**
 * A request that has not renewed its claim for this long died with its process, or its process cannot reach the
 * database. In the second case its transaction fails at `noteCarriedOut` once the key has another claim.
 */
const ABANDONED = `interval '30 seconds'`;
/** One in this many claims also deletes old rows. */
const SWEEP_EVERY = 100;
/**
 * Pauses before each further attempt to store an answer. Its request was executed, so a repeat should get that answer.
 */
const KEEP_TRIES_MS = [200, 1_000, 5_000];

/** Answers of transactions that have not ended yet. */
const answers = new WeakMap<QueryRunner, { readonly answer: unknown }>();

/**
 * Announces in a unit of work what its request will answer, and returns that. The answer is stored in the transaction
 * itself, so that a repeat gets it even if this process ends right after the commit. For handlers with one unit of work
 * that creates something that cannot be read again, such as a key; whatever the handler does after the commit must not
 * change the answer.
 */
export function keepAnswer<T>(tx: EntityManager, answer: T): T {
  if (tx.queryRunner !== undefined) answers.set(tx.queryRunner, { answer });
  return answer;
}

const OF_CLAIM = 'actor = $1 AND key = $2 AND claim = $3';

/**
 * Answers to keyed requests, for a day, shared by replicas. They are sealed, because one may contain a key that is
 * shown once.
 */
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
    const claim = randomUUID();
    const taken: unknown[] = await this.dataSource.query(
      `INSERT INTO idempotency_keys AS kept (actor, key, request_hash, claim) VALUES ($1, $2, $3, $4)
       ON CONFLICT (actor, key) DO UPDATE SET request_hash = excluded.request_hash, claim = excluded.claim,
         sealed_answer = NULL, carried_out = false, created_at = now()
       WHERE kept.created_at < now() - ${KEPT}
         OR (kept.sealed_answer IS NULL AND NOT kept.carried_out AND kept.created_at < now() - ${ABANDONED})
       RETURNING key`,
      [actor, key, this.box.seal(hash, idempotencyPlace(actor, key)), claim],
    );
    if (taken.length > 0) return { state: 'new', claimed: { actor, key, hash, claim } };
    const [row]: Row[] = await this.dataSource.query(
      `SELECT request_hash, sealed_answer, carried_out, created_at < now() - ${ABANDONED} AS abandoned
       FROM idempotency_keys WHERE actor = $1 AND key = $2`,
      [actor, key],
    );
    if (row === undefined) return { state: 'running' };
    if (!this.isOf({ actor, key, hash }, row)) return { state: 'other' };
    if (row.sealed_answer === null) return { state: row.carried_out && row.abandoned ? 'lost' : 'running' };
    return { state: 'answered', answer: JSON.parse(this.box.open(row.sealed_answer, idempotencyPlace(actor, key))) };
  }

  /** Keeps the claim as long as the work takes: updating the geo databases may take ten minutes. */
  async hold<T>({ actor, key, claim }: ClaimedRequest, work: () => Promise<T>): Promise<T> {
    const sql = `UPDATE idempotency_keys SET created_at = now() WHERE ${OF_CLAIM} AND sealed_answer IS NULL`;
    const timer = setInterval(() => {
      this.dataSource.query(sql, [actor, key, claim]).catch((error: unknown) => {
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

  /**
   * Runs in the transaction that executes the request, with the answer if it has one: both are stored, or neither.
   * @throws CONFLICT, which rolls that transaction back, if another request has taken over the key.
   */
  async noteCarriedOut(tx: EntityManager, { actor, key, claim }: ClaimedRequest): Promise<void> {
    const kept = tx.queryRunner && answers.get(tx.queryRunner);
    const [rows]: [unknown[], number] = await tx.query(
      `UPDATE idempotency_keys SET carried_out = true, created_at = now(), sealed_answer = coalesce($4, sealed_answer)
       WHERE ${OF_CLAIM} RETURNING key`,
      [actor, key, claim, kept ? this.seal({ actor, key }, kept.answer) : null],
    );
    if (rows.length === 0) throw idempotencyKeyLost();
  }

  /** Never rejects. */
  async remember({ actor, key, claim }: ClaimedRequest, answer: unknown): Promise<void> {
    const sealed = this.seal({ actor, key }, answer);
    const sql = `UPDATE idempotency_keys SET sealed_answer = $4, carried_out = true WHERE ${OF_CLAIM}`;
    const keep = (): Promise<unknown> => this.dataSource.query(sql, [actor, key, claim, sealed]);
    try {
      await keep();
    } catch (error) {
      this.logger.warn('The answer to an Idempotency-Key could not be kept yet', error);
      void this.keepLater(keep);
    }
  }

  /**
   * After a failure. A request that changed nothing can be tried again under its key; one that was executed and failed
   * afterwards cannot, and repeats get an answer that says so at once. Never rejects: a leftover key is treated like
   * one of a dead process.
   */
  async release({ actor, key, claim }: ClaimedRequest): Promise<void> {
    try {
      await this.dataSource.query(
        `WITH unchanged AS (DELETE FROM idempotency_keys WHERE ${OF_CLAIM} AND sealed_answer IS NULL AND NOT carried_out)
         UPDATE idempotency_keys SET created_at = created_at - ${ABANDONED} WHERE ${OF_CLAIM} AND carried_out`,
        [actor, key, claim],
      );
    } catch (error) {
      this.logger.warn('An Idempotency-Key could not be released', error);
    }
  }

  private seal({ actor, key }: Pick<KeyedRequest, 'actor' | 'key'>, answer: unknown): string {
    return this.box.seal(JSON.stringify(answer ?? null), idempotencyPlace(actor, key));
  }

  private async keepLater(keep: () => Promise<unknown>): Promise<void> {
    for (const pauseMs of KEEP_TRIES_MS) {
      try {
        await delay(pauseMs, undefined, { ref: false });
        await keep();
        return;
      } catch (error) {
        this.logger.error('The answer to an Idempotency-Key could not be kept', error);
      }
    }
  }

  /**
   * The hash is sealed like answers: a plain one would allow a reader to check guesses at a password in the request.
   */
  private isOf({ actor, key, hash }: KeyedRequest, { request_hash: sealed }: Pick<Row, 'request_hash'>): boolean {
    try {
      return this.box.open(sealed, idempotencyPlace(actor, key)) === hash;
    } catch (error) {
      // Sealed with another GATEHOUSE_SECRET_KEY, or not sealed yet: the request is unknown, so it is not repeated.
      if (error instanceof SecretBoxError) return false;
      throw error;
    }
  }

  private async sweep(): Promise<void> {
    await this.dataSource.query(`DELETE FROM idempotency_keys WHERE created_at < now() - ${KEPT}`);
  }
}

/** The answer of one request cannot be opened as that of another. */
export function idempotencyPlace(actor: string, key: string): string {
  return `idempotency_keys:${actor}:${key}`;
}
