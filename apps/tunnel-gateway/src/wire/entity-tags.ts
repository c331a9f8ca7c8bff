import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Request, Response } from 'express';
import { tap, type Observable } from 'rxjs';
import { entityTagOf } from './row-version.js';

const TAGGED = new Set(['GET', 'HEAD', 'PATCH']);

/** Adds an entity tag to every answer with a single row; a match of If-None-Match becomes 304. */
@Injectable()
export class EntityTags implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const http = context.switchToHttp();
    if (!TAGGED.has(http.getRequest<Request>().method)) return next.handle();
    return next.handle().pipe(
      tap((answer) => {
        if (isRow(answer)) http.getResponse<Response>().setHeader('ETag', entityTagOf(answer));
      }),
    );
  }
}

function isRow(answer: unknown): answer is { updated_at: string | null } {
  return typeof answer === 'object' && answer !== null && 'id' in answer && 'updated_at' in answer;
}
