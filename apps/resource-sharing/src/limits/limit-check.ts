import { addHeader, AppError, onAnswered } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { Caller } from '../credentials/caller.js';
import { DailyQuotas } from '../quota/daily-quotas.js';
import { AddressCounts } from './address-counts.js';
import type { CallerLimits, DayLimit } from './caller-limits.js';
import { LeasedLimiter, within, type Lease } from './leased-limiter.js';
import { limitRefusal } from './limit-refusal.js';
import { LimitStore, type TokenAnswer, type TokenRequest } from './limit-store.js';
import type { Operation } from './operation.js';
import { limitField, type LimitState } from './rate-limit-fields.js';

export interface Call {
  readonly caller: Caller;
  readonly operation: Operation;
  readonly limits: CallerLimits;
  readonly address: string;
  readonly response: Response;
}

const STORE_TIMEOUT_MS = 2_000;
const DAY_MS = 86_400_000;

/** Decides whether a call may pass: reads by the tokens of this process, unlocks by the counts of all replicas. */
@Injectable()
export class LimitCheck {
  constructor(
    private readonly limiter: LeasedLimiter,
    private readonly store: LimitStore,
    private readonly quotas: DailyQuotas,
    private readonly addresses: AddressCounts,
  ) {}

  /** Undefined if the call passed without waiting. @throws the 429 of the limit that was reached, or rejects with it. */
  enter(call: Call): Promise<void> | undefined {
    const { limits, operation } = call;
    if (!limits.addressAdmitted) return this.admitAddress(call).then(() => this.enter(call));
    if (operation.scope === 'unlock') return this.enterExactly(call);
    const now = performance.now();
    const unread = this.unread(limits.dayLimits, now);
    if (unread !== undefined) return unread.then(() => this.enter(call));
    const denied = this.limiter.take(limits.leases, now);
    if (denied instanceof Promise) return denied.then((lease) => this.finish(call, lease));
    this.finish(call, denied);
    return undefined;
  }

  private async admitAddress({ caller, limits, address }: Call): Promise<void> {
    const most = limits.profile.addressesPerDay ?? Infinity;
    const { credentialId } = caller;
    if (credentialId !== null && !(await this.addresses.admit(credentialId, limits.day, address, most))) {
      const retryAfterMs = Number(limits.reset) * 1_000 - Date.now();
      const limit = { name: 'addresses-day', quota: most, windowMs: DAY_MS, resetMs: retryAfterMs };
      throw limitRefusal({ code: 'IP_COUNT_EXCEEDED', scope: 'app', retryAfterMs, limit });
    }
    limits.addressAdmitted = true;
  }

  /** What has to finish before the daily quotas can be checked. */
  private unread(dayLimits: readonly DayLimit[], now: number): Promise<unknown> | undefined {
    let waiting: Promise<unknown> | undefined;
    for (const { count } of dayLimits) {
      const reading = this.quotas.refresh(count, now);
      if (reading !== undefined) waiting = waiting === undefined ? reading : Promise.all([waiting, reading]);
    }
    return waiting;
  }

  private finish(call: Call, denied: Lease | undefined): void {
    const { limits, operation, response } = call;
    const now = performance.now();
    if (denied !== undefined) throw refusalOf(denied, call, now);
    const spent = limits.dayLimits.find(({ count, limit }) => count.used + count.pending >= limit);
    if (spent !== undefined) {
      this.limiter.giveBack(limits.leases);
      throw quotaRefusal(spent, call);
    }
    for (const { count } of limits.dayLimits) this.quotas.add(count, 1);
    this.giveBackFailures(limits.dayLimits, response);
    if (operation.scope !== 'unlock' && limits.leases.length > 0) {
      addHeader(response, 'RateLimit-Policy', limits.policy);
      addHeader(response, 'RateLimit', limitField(tightest(limits.leases, now)));
    }
    setDayHeaders(call);
  }

  /** Only successful calls count. */
  private giveBackFailures(dayLimits: readonly DayLimit[], response: Response): void {
    if (dayLimits.length === 0) return;
    onAnswered(response, (status) => {
      if (status < 400) return;
      for (const { count } of dayLimits) this.quotas.add(count, -1);
    });
  }

  /** Checks everything in the shared store. A call that cannot be counted is refused. */
  private async enterExactly(call: Call): Promise<void> {
    const { leases, dayLimits, day } = call.limits;
    const quota = { keys: dayLimits.map(({ count }) => count.key), limits: dayLimits.map(({ limit }) => limit), day };
    const asked = dayLimits.length === 0 ? undefined : quota;
    if (leases.length > 0 || asked !== undefined) {
      const { tokens, exceeded } = await orUnavailable(this.store.admit(leases.map(toRequest), asked));
      takeExactly(call, tokens);
      if (exceeded !== undefined) throw quotaRefusal(dayLimits[exceeded] as DayLimit, call);
      this.quotas.reserved(dayLimits.map(({ count }) => count));
    }
    this.giveBackFailures(dayLimits, call.response);
    setDayHeaders(call);
  }
}

function toRequest({ rule: { key, quota, windowMs } }: Lease): TokenRequest {
  return { key, intervalMs: windowMs / quota, burst: quota, cost: 1 };
}

function takeExactly({ limits: { leases, policy }, operation, response }: Call, answers: readonly TokenAnswer[]): void {
  const states = leases.map(({ rule }, index): LimitState => {
    const { room, granted, aheadMs } = answers[index] ?? { room: 0, granted: 0, aheadMs: rule.windowMs };
    const { name, quota, windowMs } = rule;
    return { name, quota, windowMs, remaining: room - granted, resetMs: aheadMs };
  });
  const [first] = states;
  if (first === undefined) return;
  const refused = answers.findIndex(({ room }) => room < 1);
  if (refused < 0) {
    addHeader(response, 'RateLimit-Policy', policy);
    addHeader(response, 'RateLimit', limitField(states.reduce(tighter, first)));
    return;
  }
  const [state, lease] = [states[refused] as LimitState, leases[refused] as Lease];
  const interval = state.windowMs / state.quota;
  throw limitRefusal({
    code: lease.rule.code,
    scope: lease.rule.scope,
    retryAfterMs: state.resetMs - interval * (state.quota - 1),
    group: operation.scope,
    limit: state,
    headers: { 'RateLimit-Policy': policy },
  });
}

async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await within(work, STORE_TIMEOUT_MS);
  } catch (cause) {
    const message = 'Limits cannot be checked now, so nothing can be unlocked';
    throw new AppError('SERVICE_UNAVAILABLE', message, { cause, retryAfterSeconds: 1 });
  }
}

function stateOf(lease: Lease, now: number): LimitState {
  const { name, quota, windowMs } = lease.rule;
  return { name, quota, windowMs, remaining: remainingOf(lease, now), resetMs: Math.max(0, lease.fullAt - now) };
}

function remainingOf({ rule: { quota, windowMs }, left, fullAt }: Lease, now: number): number {
  const ahead = Math.max(0, fullAt - now);
  return Math.min(quota, left + Math.max(0, quota - (ahead / windowMs) * quota));
}

/** The limit that will be reached first. */
function tightest(leases: readonly Lease[], now: number): LimitState {
  let found = leases[0] as Lease;
  for (let index = 1; index < leases.length; index++) {
    const other = leases[index] as Lease;
    if (remainingOf(other, now) < remainingOf(found, now)) found = other;
  }
  return stateOf(found, now);
}

function tighter(one: LimitState, other: LimitState): LimitState {
  return other.remaining < one.remaining ? other : one;
}

function refusalOf(lease: Lease, { operation, limits }: Call, now: number): AppError {
  const { code, scope } = lease.rule;
  return limitRefusal({
    code,
    scope,
    retryAfterMs: lease.deniedUntil - now,
    group: operation.scope,
    limit: stateOf(lease, now),
    headers: { 'RateLimit-Policy': limits.policy },
  });
}

function quotaRefusal({ name, limit: quota, code, scope }: DayLimit, { operation, limits }: Call): AppError {
  const { endpoint } = limits;
  const retryAfterMs = Number(limits.reset) * 1_000 - Date.now();
  return limitRefusal({
    code,
    scope,
    retryAfterMs,
    group: operation.scope,
    limit: { name, quota, windowMs: DAY_MS, resetMs: retryAfterMs },
    headers: endpoint === undefined ? {} : endpointHeaders(endpoint),
  });
}

/** The daily quota that will be reached first, in the header fields that older clients read. */
function setDayHeaders({ limits, response }: Call): void {
  addHeader(response, 'X-RateLimit-Reset', limits.reset);
  const [first, ...others] = limits.dayLimits;
  if (first !== undefined) {
    const next = others.reduce((one, other) => (leftOf(other) < leftOf(one) ? other : one), first);
    addHeader(response, 'X-RateLimit-Limit', String(next.limit));
    addHeader(response, 'X-RateLimit-Remaining', String(leftOf(next)));
  }
  if (limits.endpoint === undefined) return;
  for (const [name, value] of Object.entries(endpointHeaders(limits.endpoint))) addHeader(response, name, value);
}

function endpointHeaders(endpoint: DayLimit): Record<string, string> {
  return { 'X-Endpoint-Limit': String(endpoint.limit), 'X-Endpoint-Remaining': String(leftOf(endpoint)) };
}

function leftOf({ limit, count }: DayLimit): number {
  return Math.max(0, limit - count.used - count.pending);
}
