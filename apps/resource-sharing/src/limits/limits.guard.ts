import { clientAddress, onAnswered } from '@gatehouse/platform';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import { callerOf } from '../credentials/caller.js';
import { TierCeilings } from './tier-ceilings.js';
import { RefusedCalls } from '../refused-calls/refused-calls.js';
import { ServiceDays } from '../quota/service-days.js';
import { UsageRecorder } from '../usage/usage-recorder.js';
import { CallerLimitsCache, type CallerLimits } from './caller-limits.js';
import { LimitCheck } from './limit-check.js';
import { operationOf } from './operation.js';

/** Counts every call of a known caller, and refuses those above the limits. Runs after the guard of the open API. */
@Injectable()
export class LimitsGuard implements CanActivate {
  constructor(
    private readonly callers: CallerLimitsCache,
    private readonly check: LimitCheck,
    private readonly usage: UsageRecorder,
    private readonly days: ServiceDays,
    private readonly ceilings: TierCeilings,
    private readonly refused: RefusedCalls,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const caller = callerOf(request);
    const operation = caller === undefined ? null : operationOf(context);
    if (caller === undefined || operation === null) return true;
    const response = http.getResponse<Response>();
    // The owner of an IPv6 network has more addresses than can be counted.
    const { key: address } = clientAddress(request);
    const limits = this.callers.of(caller, operation, address, this.days.at());
    this.countWhenDone(response, limits);
    const passed = this.check.enter({ caller, operation, limits, address, response });
    const ceiling = this.ceilings.enter(caller, operation);
    return passed === undefined && ceiling === undefined ? true : Promise.all([passed, ceiling]).then(() => true);
  }

  private countWhenDone(response: Response, { usageId, usageKey, isTest }: CallerLimits): void {
    onAnswered(response, (status, milliseconds, { requestId, errorCode: code = '' }) => {
      this.usage.note(usageId, usageKey, status, milliseconds * 1_000);
      const { applicationId, method, endpoint } = usageKey;
      if (status < 400 || applicationId === 0) return;
      this.refused.note(applicationId, { at: new Date(), method, endpoint, status, code, requestId, isTest });
    });
  }
}
