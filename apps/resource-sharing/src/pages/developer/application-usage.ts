import { Injectable } from '@nestjs/common';
import type { Application } from '../../applications/application-rows.js';
import { callsOfDayKey } from '../../limits/caller-limits.js';
import { DailyQuotas } from '../../quota/daily-quotas.js';
import { QuotaProfiles } from '../../quota/quota-profiles.js';
import { ServiceDays, shiftDate } from '../../quota/service-days.js';
import { TEST_CALLS, UsageReader, type Usage } from '../../usage/usage-reader.js';
import type { ChartDay } from './usage-chart.js';

const DAYS = 30;

/** Calls of an application in the last 30 days: the real ones, or those with its test keys. */
export interface RecentUsage {
  readonly isTest: boolean;
  readonly usage: Usage;
  /** Every day, including those without calls, oldest first. */
  readonly calendar: readonly ChartDay[];
  readonly quota: DayQuota;
}

/** Successful calls of today. */
export interface DayQuota {
  /** Null: no limit. */
  readonly limit: number | null;
  readonly used: number;
  /** Unix milliseconds. */
  readonly resetAt: number;
}

/** Calls of applications as their owners see them. */
@Injectable()
export class ApplicationUsage {
  constructor(
    private readonly usage: UsageReader,
    private readonly days: ServiceDays,
    private readonly profiles: QuotaProfiles,
    private readonly quotas: DailyQuotas,
  ) {}

  /** The last 30 days, including today, for all secrets and all users together. */
  async recent(application: Application, isTest: boolean): Promise<RecentUsage> {
    const last = this.days.at().date;
    const dates = Array.from({ length: DAYS }, (_, index) => shiftDate(last, index + 1 - DAYS) ?? last);
    const subject = { applicationId: application.id, credentialId: isTest ? TEST_CALLS : 0, userId: null };
    const [usage, quota] = await Promise.all([
      this.usage.read(subject, { first: dates[0] ?? last, last }),
      this.quotaOf(application, isTest),
    ]);
    const known = new Map(usage.days.map((day) => [day.date, day]));
    const calendar = dates.map((date) => known.get(date) ?? { date, total: 0, ok: 0 });
    return { isTest, usage, calendar, quota };
  }

  private async quotaOf({ id, quotaProfile }: Application, isTest: boolean): Promise<DayQuota> {
    const { date, endsAt } = this.days.at();
    const { appPerDay: limit } = this.profiles.of({ quotaProfile, credentialKind: 'application', isTest });
    if (limit === null) return { limit, used: 0, resetAt: endsAt };
    const count = this.quotas.count(callsOfDayKey({ applicationId: id, credentialId: 0, isTest }), date);
    await this.quotas.refresh(count, performance.now());
    return { limit, used: count.used + count.pending, resetAt: endsAt };
  }
}
