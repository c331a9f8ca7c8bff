import { Global, Module } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { DailyQuotas } from '../quota/daily-quotas.js';
import { QuotaController } from '../quota/quota.controller.js';
import { QuotaProfiles } from '../quota/quota-profiles.js';
import { ServiceDays } from '../quota/service-days.js';
import { RefusedCalls } from '../refused-calls/refused-calls.js';
import { UsageController } from '../usage/usage.controller.js';
import { UsageReader } from '../usage/usage-reader.js';
import { UsageRecorder } from '../usage/usage-recorder.js';
import { AddressCounts } from './address-counts.js';
import { AddressLimit } from './address-limit.js';
import { CallerLimitsCache } from './caller-limits.js';
import { LeasedLimiter } from './leased-limiter.js';
import { LimitCheck } from './limit-check.js';
import { LimitStore } from './limit-store.js';
import { LimitsGuard } from './limits.guard.js';
import { PostgresLimitStore } from './postgres-limit-store.js';
import { LimitRedis, RedisLimitStore } from './redis-limit-store.js';
import { TierCeilings } from './tier-ceilings.js';

/**
 * Limits, quotas and usage of the open API. Its guard must run after that of OpenApiModule, which has to be imported
 * first.
 */
@Global()
@Module({
  controllers: [QuotaController, UsageController],
  providers: [
    AddressCounts,
    AddressLimit,
    CallerLimitsCache,
    DailyQuotas,
    LeasedLimiter,
    LimitCheck,
    LimitRedis,
    LimitsGuard,
    QuotaProfiles,
    RefusedCalls,
    ServiceDays,
    TierCeilings,
    UsageReader,
    UsageRecorder,
    {
      provide: LimitStore,
      inject: [DataSource, LimitRedis, DailyQuotas],
      useFactory: (dataSource: DataSource, { client }: LimitRedis, quotas: DailyQuotas): LimitStore =>
        client === undefined
          ? new PostgresLimitStore(dataSource)
          : new RedisLimitStore(client, ({ keys, limits, day }) => quotas.reserve(keys, limits, day)),
    },
    { provide: APP_GUARD, useExisting: LimitsGuard },
  ],
  exports: [
    AddressLimit,
    DailyQuotas,
    LimitStore,
    QuotaProfiles,
    RefusedCalls,
    ServiceDays,
    UsageReader,
    UsageRecorder,
  ],
})
export class LimitsModule {}
