import { layerOfWork, UnitOfWork } from '@gatehouse/persistence';
import {
  idempotencyKeyOf,
  idempotencyKeyReused,
  idempotencyKeyRunning,
  JsonLogger,
  markReplayed,
} from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { EntityManager } from 'typeorm';
import type { UserCaller } from '../credentials/caller.js';
import { Enveloped, type EnvelopeOptions } from '../wire/envelope.js';

interface KeptAnswer {
  readonly data: unknown;
  readonly options: EnvelopeOptions;
}

interface KeptRow {
  request_hash: string;
  answer: KeptAnswer;
}

const LOCK = 'SELECT pg_try_advisory_xact_lock(hashtextextended($1, 0)) AS locked';

const FIND = `SELECT request_hash, answer FROM idempotency_keys
  WHERE user_id = $1 AND application_id = $2 AND key = $3 AND created_at > now() - interval '24 hours'`;

const KEEP = `INSERT INTO idempotency_keys (user_id, application_id, key, request_hash, answer) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (user_id, application_id, key)
  DO UPDATE SET request_hash = excluded.request_hash, answer = excluded.answer, created_at = now()`;

const PRUNE = `DELETE FROM idempotency_keys WHERE ctid = ANY (ARRAY(SELECT ctid FROM idempotency_keys
  WHERE created_at < now() - interval '24 hours' ORDER BY created_at LIMIT 1000 FOR UPDATE SKIP LOCKED))`;

/** One in this many stored answers also deletes a batch of old ones. */
const PRUNE_EVERY = 100;

/**
 * Implements Idempotency-Key. The answer is stored in the transaction of the request itself: whatever fails, either the
 * request was executed and its answer is there, or nothing happened and a repeat is executed. Failures change nothing
 * and are not stored.
 */
@Injectable()
export class IdempotentRequests {
  private kept = 0;
  /** In the tables of test mode. */
  private keptInTests = 0;

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly logger: JsonLogger,
  ) {}

  /**
   * Runs `work`, in a transaction when the request has a key, or answers a repeat with the first answer.
   * @throws IDEMPOTENCY_KEY_IN_USE while the first is running, UNPROCESSABLE for a key of another request,
   * INVALID_ARGUMENT for what is no key.
   */
  async run(
    request: Request,
    caller: UserCaller,
    work: (tx: EntityManager | undefined) => Promise<Enveloped>,
  ): Promise<Enveloped> {
    const keyed = idempotencyKeyOf(request);
    if (keyed === null) return work(undefined);
    // No application has the id 0: it stands for the user's personal keys.
    const id = [caller.userId, caller.applicationId ?? 0, keyed.key];
    const answer = await this.unitOfWork.run(async (tx) => {
      await lock(tx, id);
      const [kept] = await tx.query<KeptRow[]>(FIND, id);
      if (kept !== undefined) return replay(kept, keyed.requestHash, request);
      const made = await work(tx);
      const stored: KeptAnswer = { data: made.data ?? null, options: made.options };
      await tx.query(KEEP, [...id, keyed.requestHash, JSON.stringify(stored)]);
      if (layerOfWork() === undefined) this.kept += 1;
      else this.keptInTests += 1;
      return made;
    });
    const kept = layerOfWork() === undefined ? this.kept : this.keptInTests;
    if (kept >= PRUNE_EVERY) await this.prune();
    return answer;
  }

  /** Deletes a batch of answers older than a day. Never rejects, because the request itself was executed. */
  async prune(): Promise<void> {
    if (layerOfWork() === undefined) this.kept = 0;
    else this.keptInTests = 0;
    try {
      await this.unitOfWork.run((tx) => tx.query(PRUNE));
    } catch (error) {
      this.logger.warn('old answers were not removed', { error }, 'IdempotentRequests');
    }
  }
}

async function lock(tx: EntityManager, id: readonly unknown[]): Promise<void> {
  const [row] = await tx.query<{ locked: boolean }[]>(LOCK, [`idempotency ${id.join(' ')}`]);
  if (row?.locked !== true) throw idempotencyKeyRunning('IDEMPOTENCY_KEY_IN_USE');
}

function replay({ request_hash: hash, answer }: KeptRow, requestHash: string, request: Request): Enveloped {
  if (hash !== requestHash) throw idempotencyKeyReused();
  markReplayed(request);
  return new Enveloped(answer.data, answer.options);
}
