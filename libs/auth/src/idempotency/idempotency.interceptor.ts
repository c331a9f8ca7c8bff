import { idempotencyKeyOf, idempotencyKeyReused, idempotencyKeyRunning, markReplayed } from '@gatehouse/platform';
import { Injectable, Logger } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { Request } from 'express';
import { lastValueFrom, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { actorOf } from '../guard/request-actor.js';
import { IdempotencyStore } from './idempotency-store.js';
import type { KeyedRequest } from './idempotency-store.js';

/**
 * Honours Idempotency-Key on every POST with credentials: the first request is carried out, a repeat gets its answer.
 * draft-ietf-httpapi-idempotency-key-header-07, section 2.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  private readonly logger = new Logger(IdempotencyInterceptor.name);

  constructor(private readonly store: IdempotencyStore) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<Request>();
    const keyed = keyedRequest(request);
    if (keyed === null) return next.handle();
    const claim = await this.store.claim(keyed);
    switch (claim.state) {
      case 'new':
        return of(await this.carryOut(keyed, next));
      case 'answered':
        markReplayed(request);
        return of(claim.answer);
      case 'running':
        throw idempotencyKeyRunning();
      case 'other':
        throw idempotencyKeyReused();
    }
  }

  private async carryOut(keyed: KeyedRequest, next: CallHandler): Promise<unknown> {
    let answer: unknown;
    try {
      answer = await this.store.hold(keyed, () => lastValueFrom(next.handle()));
    } catch (error) {
      await this.settle(this.store.release(keyed));
      throw error;
    }
    await this.settle(this.store.remember(keyed, answer));
    return answer;
  }

  /** The request itself is decided: bookkeeping that fails must not turn its answer into an error. */
  private async settle(bookkeeping: Promise<void>): Promise<void> {
    try {
      await bookkeeping;
    } catch (error) {
      this.logger.error('The answer to an Idempotency-Key could not be kept', error);
    }
  }
}

/** Null for requests that carry no key, or nobody's. */
function keyedRequest(request: Request): KeyedRequest | null {
  const actor = actorOf(request);
  if (request.method !== 'POST' || actor === null) return null;
  const keyed = idempotencyKeyOf(request);
  if (keyed === null) return null;
  const who = `${actor.credential}:${actor.credentialId ?? actor.name}`;
  return { actor: who, key: keyed.key, hash: keyed.requestHash };
}
