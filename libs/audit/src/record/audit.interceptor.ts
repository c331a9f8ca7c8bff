import { Injectable } from '@nestjs/common';
import type { CallHandler, ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { Observable } from 'rxjs';
import type { SelectiveInterceptor } from '@gatehouse/platform';
import { AuditRecorder } from './audit-recorder.js';

/** Reads what a call is about to change, after the guards have admitted it and before its handler runs. */
@Injectable()
export class AuditInterceptor implements SelectiveInterceptor {
  constructor(private readonly recorder: AuditRecorder) {}

  concerns(request: Request): boolean {
    return this.recorder.watches(request);
  }

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    await this.recorder.readBefore(context.switchToHttp().getRequest<Request>());
    return next.handle();
  }
}
