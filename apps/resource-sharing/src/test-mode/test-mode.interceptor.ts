import { withLayer } from '@gatehouse/persistence';
import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Observable } from 'rxjs';
import { callerOf } from '../credentials/caller.js';

/**
 * Runs operations of test calls in the layer. Guards and what they count stay outside. An operation that would run
 * outside by mistake finds nothing: no account of the site has the number of a test account.
 */
@Injectable()
export class TestModeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const caller = callerOf(context.getArgByIndex<object>(0));
    if (caller?.isTest !== true) return next.handle();
    return withLayer(String(caller.applicationId), () => next.handle());
  }
}
