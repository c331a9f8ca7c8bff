import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';

/** A success on the wire; failures are written by the platform's filter. */
export interface Envelope {
  success: true;
  /** The status as text. */
  code: string;
  message: string;
  data: unknown;
  meta?: EnvelopeMeta;
}

/** Of a list: how many there are; of one that comes in pages, which this is. */
export interface EnvelopeMeta {
  total: number;
  page?: number;
  page_size?: number;
}

export interface EnvelopeOptions {
  message?: string;
  total?: number;
  page?: number;
  pageSize?: number;
}

/** What a handler returns to set more than `data`. */
export class Enveloped {
  constructor(
    readonly data: unknown,
    readonly options: EnvelopeOptions = {},
  ) {}
}

/** Wraps what handlers return into the service's envelope. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<Envelope> {
    const response = context.switchToHttp().getResponse<Response>();
    return next.handle().pipe(map((result: unknown) => wrap(result, response.statusCode)));
  }
}

function wrap(result: unknown, status: number): Envelope {
  const { data, options } = result instanceof Enveloped ? result : new Enveloped(result);
  const { message = 'success' } = options;
  const envelope: Envelope = { success: true, code: String(status), message, data: data ?? null };
  const meta = metaOf(options);
  return meta === undefined ? envelope : { ...envelope, meta };
}

function metaOf({ total, page, pageSize }: EnvelopeOptions): EnvelopeMeta | undefined {
  if (total === undefined) return undefined;
  return page === undefined || pageSize === undefined ? { total } : { total, page, page_size: pageSize };
}
