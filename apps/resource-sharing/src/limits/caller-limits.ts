import { Injectable } from '@nestjs/common';
import type { Caller } from '../credentials/caller.js';
import { DailyQuotas, type DayCount } from '../quota/daily-quotas.js';
import { QuotaProfiles, type QuotaProfile } from '../quota/quota-profiles.js';
import type { ServiceDay } from '../quota/service-days.js';
import { usageSubjectOf } from '../usage/usage-reader.js';
import type { UsageKey } from '../usage/usage-recorder.js';
import { LeasedLimiter, type Lease } from './leased-limiter.js';
import { rulesOf, type LimitCode, type LimitScope } from './limit-rule.js';
import type { Operation } from './operation.js';
import { policyField } from './rate-limit-fields.js';

/** A daily quota that applies to a call. */
export interface DayLimit {
  /** In the RateLimit fields. */
  readonly name: string;
  readonly count: DayCount;
  readonly limit: number;
  readonly code: LimitCode;
  readonly scope: LimitScope;
}

/** Everything that is equal for all calls of one caller from one address to one operation on one day. */
export interface CallerLimits {
  readonly profile: QuotaProfile;
  readonly isTest: boolean;
  readonly day: string;
  readonly leases: readonly Lease[];
  /** RateLimit-Policy; empty without limits. */
  readonly policy: string;
  readonly dayLimits: readonly DayLimit[];
  /** The quota among dayLimits that belongs to the operation itself. */
  readonly endpoint: DayLimit | undefined;
  readonly usageId: string;
  readonly usageKey: UsageKey;
  /** The end of the day in Unix seconds, as text. */
  readonly reset: string;
  /** True if the address is one of those that the key may use today, or no key was sent. */
  addressAdmitted: boolean;
}

const MAX_CALLERS = 20_000;

/** Computes once what applies to a caller. */
@Injectable()
export class CallerLimitsCache {
  private readonly known = new Map<string, CallerLimits>();

  constructor(
    private readonly profiles: QuotaProfiles,
    private readonly limiter: LeasedLimiter,
    private readonly quotas: DailyQuotas,
  ) {
    profiles.observe(() => this.known.clear());
  }

  of(caller: Caller, operation: Operation, address: string, day: ServiceDay): CallerLimits {
    const id = `${caller.credentialId ?? appOf(caller)} ${caller.userId ?? ''} ${operation.id} ${address}`;
    const known = this.known.get(id);
    if (known !== undefined && known.day === day.date && known.profile === this.profiles.of(caller)) return known;
    if (this.known.size >= MAX_CALLERS) this.makeRoom();
    const made = this.make(caller, operation, address, day);
    this.known.delete(id);
    this.known.set(id, made);
    return made;
  }

  /** The quota of the operation itself, if it has one. */
  endpointQuota(caller: Caller, { name, exempt }: Operation, day: string): DayLimit | undefined {
    const limit = exempt ? undefined : this.profiles.of(caller).endpointPerDay[name];
    if (limit === undefined) return undefined;
    return this.dayLimit(`e:${appOf(caller)} ${name}`, limit, ['endpoint-day', 'ENDPOINT_QUOTA_EXCEEDED', 'app'], day);
  }

  private make(caller: Caller, operation: Operation, address: string, { date, endsAt }: ServiceDay): CallerLimits {
    const profile = this.profiles.of(caller);
    const app = appOf(caller);
    const rules = rulesOf(profile, { app, userId: caller.userId, address, group: operation.scope });
    const usageKey = usageKeyOf(caller, operation, date);
    const endpoint = this.endpointQuota(caller, operation, date);
    return {
      profile,
      isTest: caller.isTest,
      day: date,
      leases: rules.map((rule) => this.limiter.lease(rule)),
      policy: policyField(rules),
      dayLimits: [
        ...this.callerDayLimits(caller, operation, profile, date),
        ...(endpoint === undefined ? [] : [endpoint]),
      ],
      endpoint,
      usageId: `${date} ${usageKey.applicationId} ${usageKey.credentialId} ${usageKey.userId} ${operation.id}`,
      usageKey,
      reset: String(Math.ceil(endsAt / 1_000)),
      // The users of a public application are at as many addresses as there are users.
      addressAdmitted: profile.addressesPerDay === null || caller.credentialId === null,
    };
  }

  private callerDayLimits(caller: Caller, { exempt }: Operation, profile: QuotaProfile, day: string): DayLimit[] {
    if (exempt) return [];
    const limits: DayLimit[] = [];
    if (profile.appPerDay !== null) {
      limits.push(
        this.dayLimit(callsOfDayKey(caller), profile.appPerDay, ['app-day', 'APP_DAILY_QUOTA_EXCEEDED', 'app'], day),
      );
    }
    if (profile.userPerDay !== null && caller.userId !== null) {
      limits.push(
        this.dayLimit(`u:${caller.userId}`, profile.userPerDay, ['user-day', 'USER_DAILY_QUOTA_EXCEEDED', 'user'], day),
      );
    }
    return limits;
  }

  private dayLimit(
    key: string,
    limit: number,
    [name, code, scope]: [string, LimitCode, LimitScope],
    day: string,
  ): DayLimit {
    return { name, count: this.quotas.count(key, day), limit, code, scope };
  }

  private makeRoom(): void {
    let left = MAX_CALLERS >> 4;
    for (const id of this.known.keys()) {
      this.known.delete(id);
      if (--left === 0) return;
    }
  }
}

/** Counter for the calls of an application or personal key against its daily quota. */
export function callsOfDayKey(caller: CountedCaller): string {
  return `a:${appOf(caller)}`;
}

type CountedCaller = Pick<Caller, 'applicationId' | 'credentialId' | 'isTest'>;

/** A short name of the application, of its test mode, or of the personal key. */
function appOf({ applicationId, credentialId, isTest }: CountedCaller): string {
  if (applicationId === null) return `k${credentialId}`;
  return isTest ? `t${applicationId}` : `a${applicationId}`;
}

function usageKeyOf(caller: Caller, { method, endpoint }: Operation, day: string): UsageKey {
  const { applicationId, credentialId } = usageSubjectOf(caller);
  const { userId } = caller;
  return {
    day,
    applicationId,
    credentialId,
    userId: userId ?? 0,
    method,
    endpoint,
  };
}
