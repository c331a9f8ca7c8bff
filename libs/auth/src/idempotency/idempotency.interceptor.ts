import { beforeEachCommit } from '@gatehouse/persistence';
import {
  idempotencyAnswerLost,
  idempotencyKeyOf,
  idempotencyKeyReused,
  idempotencyKeyRunning,
  markReplayed,
  type SelectiveInterceptor,
} from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { CallHandler, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { lastValueFrom, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { actorOf } from '../guard/request-actor.js';
import { IdempotencyStore } from './idempotency-store.js';
import type { ClaimedRequest, KeyedRequest } from './idempotency-store.js';

/**
 * Supports Idempotency-Key on every POST with credentials: the first request is executed, and a repeat gets its answer.
 * draft-ietf-httpapi-idempotency-key-header-07, section 2.
 */
@Injectable()
export class IdempotencyInterceptor implements SelectiveInterceptor {
  constructor(private readonly store: IdempotencyStore) {}

  concerns({ method }: Request): boolean {
    return method === 'POST';
  }

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const keyed = keyedRequest(request);
    if (keyed === null) return next.handle();
    const claim = await this.store.claim(keyed);
    switch (claim.state) {
      case 'new':
        return of(await this.carryOut(claim.claimed, next));
      case 'answered':
        markReplayed(request);
        return of(claim.answer);
      case 'running':
        throw idempotencyKeyRunning();
      case 'lost':
        throw idempotencyAnswerLost();
      case 'other':
        throw idempotencyKeyReused();
    }
  }

  /** Each transaction of the work records that the request was executed, so that a repeat cannot execute it twice. */
  private async carryOut(claimed: ClaimedRequest, next: CallHandler): Promise<unknown> {
    let answer: unknown;
    try {
      answer = await beforeEachCommit(
        (tx) => this.store.noteCarriedOut(tx, claimed),
        () => this.store.hold(claimed, () => lastValueFrom(next.handle())),
      );
    } catch (error) {
      await this.store.release(claimed);
      throw error;
    }
    await this.store.remember(claimed, answer);
    return answer;
  }
}

/** Null for requests without a key or without an actor. */
function keyedRequest(request: Request): KeyedRequest | null {
  const actor = actorOf(request);
  if (request.method !== 'POST' || actor === null) return null;
  const keyed = idempotencyKeyOf(request);
  if (keyed === null) return null;
  const who = `${actor.credential}:${actor.credentialId ?? actor.name}`;
  return { actor: who, key: keyed.key, hash: keyed.requestHash };
}
