import { pgPool, UnitOfWork } from '@gatehouse/persistence';
import { AppError, JsonLogger } from '@gatehouse/platform';
import { Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';
import { Revocations } from '../credentials/revocations.js';
import type { Caller, OpenScope } from '../credentials/caller.js';

/** Limits for one kind of caller; null or absent: no limit. */
export interface QuotaProfile {
  readonly name: string;
  readonly appPerMinute: number | null;
  readonly appBurstPerSecond: number | null;
  readonly appAddressPerMinute: number | null;
  readonly userPerMinute: number | null;
  readonly appPerDay: number | null;
  readonly userPerDay: number | null;
  /** Different addresses of one credential. */
  readonly addressesPerDay: number | null;
  /** For one user (or without one, the application or key) and the operations of a scope. */
  readonly groupPerMinute: Readonly<Partial<Record<OpenScope, number>>>;
  /** For one application or key, by operation, such as `GET /api/open/resources/:type/:tmdb_id`. */
  readonly endpointPerDay: Readonly<Record<string, number>>;
}

/** Of test calls, which need no more and get no more, whatever the application has. */
export const TEST_LIMITS: QuotaProfile = {
  name: 'test',
  appPerMinute: 120,
  appBurstPerSecond: 20,
  appAddressPerMinute: null,
  userPerMinute: null,
  appPerDay: 5_000,
  userPerDay: null,
  addressesPerDay: null,
  groupPerMinute: {},
  endpointPerDay: {},
};

const COLUMNS = `name, app_per_minute AS "appPerMinute", app_burst_per_second AS "appBurstPerSecond",
  app_address_per_minute AS "appAddressPerMinute", user_per_minute AS "userPerMinute", app_per_day AS "appPerDay",
  user_per_day AS "userPerDay", addresses_per_day AS "addressesPerDay", group_per_minute AS "groupPerMinute",
  endpoint_per_day AS "endpointPerDay"`;

const SAVE = `INSERT INTO quota_profiles (name, app_per_minute, app_burst_per_second, app_address_per_minute,
    user_per_minute, app_per_day, user_per_day, addresses_per_day, group_per_minute, endpoint_per_day)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
  ON CONFLICT (name) DO UPDATE SET app_per_minute = excluded.app_per_minute,
    app_burst_per_second = excluded.app_burst_per_second, app_address_per_minute = excluded.app_address_per_minute,
    user_per_minute = excluded.user_per_minute, app_per_day = excluded.app_per_day,
    user_per_day = excluded.user_per_day, addresses_per_day = excluded.addresses_per_day,
    group_per_minute = excluded.group_per_minute, endpoint_per_day = excluded.endpoint_per_day, updated_at = now()`;

/** Profiles that always exist: those of applications and personal keys without another one. */
export const FIXED_PROFILES = ['default', 'personal'] as const;
const RELOAD_MS = 30_000;
const SUBJECT = 'quota:all';

/** The quota profiles, all in memory; a change takes effect on every replica within a second. */
@Injectable()
export class QuotaProfiles implements OnModuleInit, BeforeApplicationShutdown {
  private profiles = new Map<string, QuotaProfile>();
  private readonly observers: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  private loading: Promise<void> = Promise.resolve();

  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly revocations: Revocations,
    private readonly logger: JsonLogger,
  ) {}

  async onModuleInit(): Promise<void> {
    this.profiles = await this.read();
    this.revocations.observe((subject) => {
      if (subject === SUBJECT || subject === '*') void this.reload();
    });
    this.timer = setInterval(() => void this.reload(), RELOAD_MS).unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    await this.loading;
  }

  of({
    quotaProfile,
    credentialKind,
    isTest,
  }: Pick<Caller, 'quotaProfile' | 'credentialKind' | 'isTest'>): QuotaProfile {
    if (isTest) return TEST_LIMITS;
    const usual = credentialKind === 'personal' ? 'personal' : 'default';
    return this.profiles.get(quotaProfile ?? usual) ?? this.profiles.get(usual) ?? NO_LIMITS;
  }

  /** Called when profiles have changed. */
  observe(observer: () => void): void {
    this.observers.push(observer);
  }

  async list(): Promise<QuotaProfile[]> {
    return [...(await this.read()).values()];
  }

  /** Creates or replaces a profile. */
  async save(profile: QuotaProfile, actorId: number | null): Promise<void> {
    const { name, groupPerMinute, endpointPerDay } = profile;
    const limits = [profile.appPerMinute, profile.appBurstPerSecond, profile.appAddressPerMinute];
    const more = [profile.userPerMinute, profile.appPerDay, profile.userPerDay, profile.addressesPerDay];
    const maps = [JSON.stringify(groupPerMinute), JSON.stringify(endpointPerDay)];
    await this.unitOfWork.run(async (tx) => {
      await tx.query(SAVE, [name, ...limits, ...more, ...maps]);
      await recordEvent(tx, { type: 'quota.saved', actorId, details: { profile: name } });
      await this.revocations.announce(tx, [SUBJECT]);
    });
  }

  /** Its applications get the default profile. @throws NOT_FOUND, and IN_USE for a fixed one. */
  async remove(name: string, actorId: number | null): Promise<void> {
    if ((FIXED_PROFILES as readonly string[]).includes(name)) {
      throw new AppError('IN_USE', `The profile ${name} cannot be removed`);
    }
    await this.unitOfWork.run(async (tx) => {
      const [, removed] = (await tx.query('DELETE FROM quota_profiles WHERE name = $1', [name])) as [unknown, number];
      if (removed === 0) throw new AppError('NOT_FOUND', 'The profile does not exist');
      await recordEvent(tx, { type: 'quota.removed', actorId, details: { profile: name } });
      await this.revocations.announce(tx, [SUBJECT]);
    });
  }

  /** One read at a time, and always one that began after the request for it. */
  private reload(): Promise<void> {
    this.loading = this.loading.then(async () => {
      try {
        this.profiles = await this.read();
        for (const observer of this.observers) observer();
      } catch (error) {
        this.logger.warn('the quota profiles could not be read', { error }, 'QuotaProfiles');
      }
    });
    return this.loading;
  }

  private async read(): Promise<Map<string, QuotaProfile>> {
    const { rows } = await pgPool(this.dataSource).query<QuotaProfile>({
      name: 'quota_profiles',
      text: `SELECT ${COLUMNS} FROM quota_profiles ORDER BY name`,
    });
    return new Map(rows.map((profile) => [profile.name, profile]));
  }
}

export const NO_LIMITS: QuotaProfile = {
  name: 'none',
  appPerMinute: null,
  appBurstPerSecond: null,
  appAddressPerMinute: null,
  userPerMinute: null,
  appPerDay: null,
  userPerDay: null,
  addressesPerDay: null,
  groupPerMinute: {},
  endpointPerDay: {},
};
