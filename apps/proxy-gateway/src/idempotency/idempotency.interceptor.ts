import { hash } from 'node:crypto';
import { actorOf } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { Injectable, Logger } from '@nestjs/common';
import type { CallHandler, ExecutionContext, NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { lastValueFrom, of } from 'rxjs';
import type { Observable } from 'rxjs';
import { IdempotencyStore } from './idempotency-store.js';
import type { KeyedRequest } from './idempotency-store.js';

const HEADER = 'idempotency-key';

/**
 * Honours Idempotency-Key on every POST with credentials: the first request is carried out, a repeat gets its answer.
 * draft-ietf-httpapi-idempotency-key-header-07, section 2.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  private readonly logger = new Logger(IdempotencyInterceptor.name);

  constructor(private readonly store: IdempotencyStore) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const keyed = keyedRequest(http.getRequest<Request>());
    if (keyed === null) return next.handle();
    const claim = await this.store.claim(keyed);
    switch (claim.state) {
      case 'new':
        return of(await this.carryOut(keyed, next));
      case 'answered':
        http.getResponse<Response>().setHeader('Idempotency-Replayed', 'true');
        return of(claim.answer);
      case 'running':
        throw new AppError('CONFLICT', 'The first request with this Idempotency-Key is still running', {
          retryAfterSeconds: 1,
        });
      case 'other':
        throw new AppError('UNPROCESSABLE', 'This Idempotency-Key was used for another request');
    }
  }

  private async carryOut(keyed: KeyedRequest, next: CallHandler): Promise<unknown> {
    let answer: unknown;
    try {
      answer = await lastValueFrom(next.handle());
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
  const key = request.headers[HEADER];
  const actor = actorOf(request);
  if (request.method !== 'POST' || key === undefined || actor === null) return null;
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    const message = 'must be 1 to 255 printable characters without spaces';
    throw new AppError('INVALID_ARGUMENT', `Idempotency-Key: ${message}`, {
      details: [{ field: 'Idempotency-Key', message }],
    });
  }
  const content = JSON.stringify([request.method, request.originalUrl, request.body ?? null]);
  const who = `${actor.credential}:${actor.credentialId ?? actor.name}`;
  return { actor: who, key, hash: hash('sha256', content) };
}
