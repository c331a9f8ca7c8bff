import { createSecretBox, loadDataKey } from '@gatehouse/persistence';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { DataSource } from 'typeorm';
import { AuditChain } from './audit-chain.js';
import { AuditInterceptor } from './audit.interceptor.js';
import { AuditLog } from './audit-log.js';
import { AuditLogsController } from './audit-logs.controller.js';
import { AuditLogsService } from './audit-logs.service.js';
import { AuditRecorder } from './audit-recorder.js';
import { AuditRetention } from './audit-retention.js';
import { AuditStore } from './audit-store.js';
import { AuditedResources } from './audited-resources.js';

/** The log itself, for every process that does something worth writing down. */
@Module({})
export class AuditModule {
  /** @param secretKeys newest first; the key that the hashes are made with is derived from the oldest. */
  static forRoot(secretKeys: readonly Buffer[]): DynamicModule {
    return {
      module: AuditModule,
      global: true,
      providers: [
        {
          provide: AuditStore,
          inject: [DataSource],
          useFactory: async (dataSource: DataSource) => {
            const key = await loadDataKey({
              queries: dataSource,
              box: createSecretBox(secretKeys),
              secretKeys,
              name: 'audit',
              purpose: 'gatehouse audit log',
            });
            return new AuditStore(dataSource, new AuditChain(key));
          },
        },
        AuditLog,
        AuditRetention,
      ],
      exports: [AuditStore, AuditLog, AuditRetention],
    };
  }
}

/** What the API adds: a row for every call that may change something, and the list of them. */
@Module({
  controllers: [AuditLogsController],
  providers: [
    AuditLogsService,
    AuditRecorder,
    AuditedResources,
    { provide: APP_INTERCEPTOR, useClass: AuditInterceptor },
  ],
})
export class AuditApiModule {}
