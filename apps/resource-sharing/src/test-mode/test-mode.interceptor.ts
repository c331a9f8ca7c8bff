import { withLayer } from '@gatehouse/persistence';
import { AppError, type SelectiveInterceptor } from '@gatehouse/platform';
import { sqlStateOf } from '@gatehouse/postgres';
import { Injectable, type CallHandler, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { catchError, throwError, type Observable } from 'rxjs';
import { callerOf } from '../credentials/caller.js';

/** A reference to a row that is gone, and a deadlock. */
const EMPTIED = new Set(['23503', '40P01']);

/**
 * Runs operations of test calls in the layer. Guards and what they count stay outside. An operation that would run
 * outside by mistake finds nothing: no account of the site has the number of a test account.
 */
@Injectable()
export class TestModeInterceptor implements SelectiveInterceptor {
  concerns(request: Request): boolean {
    return callerOf(request)?.isTest === true;
  }

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const caller = callerOf(context.getArgByIndex<object>(0));
    if (caller?.isTest !== true) return next.handle();
    const answer = withLayer(String(caller.applicationId), () => next.handle());
    return answer.pipe(catchError((error: unknown) => throwError(() => explained(error))));
  }
}

/** Accounts of the service are never removed, and those of test mode are. */
function explained(cause: unknown): unknown {
  if (cause instanceof AppError || !EMPTIED.has(sqlStateOf(cause))) return cause;
  const message = 'The test data were removed meanwhile: try again';
  return new AppError('SERVICE_UNAVAILABLE', message, { cause, retryAfterSeconds: 1, level: 'warn' });
}
