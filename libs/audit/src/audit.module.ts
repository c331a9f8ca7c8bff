import { createSecretBox, loadDataKey } from '@gatehouse/persistence';
import { globalInterceptor, JsonLogger, type ServiceSettings } from '@gatehouse/platform';
import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AuditLifecycle } from './audit-lifecycle.js';
import { AuditOptions, witnessPath } from './audit-options.js';
import { AuditRetention } from './audit-retention.js';
import { AuditChain } from './chain/audit-chain.js';
import { AuditLog } from './chain/audit-log.js';
import { AuditStore } from './chain/audit-store.js';
import { AuditLogsController } from './read/audit-logs.controller.js';
import { AuditLogsService } from './read/audit-logs.service.js';
import { AuditInterceptor } from './record/audit.interceptor.js';
import { AuditRecorder } from './record/audit-recorder.js';
import { AuditRules } from './record/audit-rules.js';
import { AuditWitness } from './witness/audit-witness.js';
import { WitnessCheck } from './witness/witness-check.js';
import { WitnessFile } from './witness/witness-file.js';
import { WitnessHook } from './witness/witness-hook.js';

type WitnessSettings = Pick<ServiceSettings, 'home' | 'auditWitnessFile' | 'auditWitnessUrl' | 'auditWitnessSecret'>;

export interface AuditModuleOptions {
  readonly service: string;
  readonly settings: Readonly<WitnessSettings>;
  /** Newest first; the key of the hashes is derived from the oldest one, and stored. */
  readonly secretKeys: readonly Buffer[];
  /** Returns how long rows are kept, if that is a setting; resolved by injection. Default: a year. */
  readonly retentionDays?: { inject: Type; days: (service: never) => number };
}

const YEAR_DAYS = 365;

/** The log itself, for every process that records actions. Needs PersistenceModule and PlatformModule. */
@Module({})
export class AuditModule {
  static forRoot(options: AuditModuleOptions): DynamicModule {
    const { service, settings, secretKeys, retentionDays } = options;
    return {
      module: AuditModule,
      global: true,
      providers: [
        {
          provide: AuditOptions,
          inject: retentionDays ? [retentionDays.inject] : [],
          useFactory: (found?: never): AuditOptions => ({
            service,
            home: settings.home,
            retentionDays: () => (retentionDays && found ? retentionDays.days(found) : YEAR_DAYS),
          }),
        },
        {
          provide: AuditWitness,
          inject: [JsonLogger],
          useFactory: (logger: JsonLogger) => witnessFor(service, settings, logger),
        },
        {
          provide: AuditStore,
          inject: [DataSource, AuditWitness],
          useFactory: async (dataSource: DataSource, witness: AuditWitness) => {
            const key = await loadDataKey({
              queries: dataSource,
              box: createSecretBox(secretKeys),
              secretKeys,
              name: 'audit',
              purpose: 'gatehouse audit log',
            });
            return new AuditStore(dataSource, new AuditChain(key), (head) => witness.saw(head));
          },
        },
        AuditLog,
        AuditRetention,
        AuditLifecycle,
      ],
      exports: [AuditOptions, AuditWitness, AuditStore, AuditLog, AuditRetention],
    };
  }
}

function witnessFor(service: string, settings: WitnessSettings, logger: JsonLogger): AuditWitness {
  const { home, auditWitnessFile, auditWitnessUrl: url, auditWitnessSecret: secret } = settings;
  const path = witnessPath(home, service, auditWitnessFile);
  return new AuditWitness({
    file: path === null ? null : new WitnessFile(path),
    hook: url === undefined || secret === undefined ? null : new WitnessHook({ url, secret, service }),
    logger,
  });
}

/** For an API: a row for every call that may change something, and `/audit-logs`. */
@Module({})
export class AuditApiModule {
  /** `rules`: the rules of the service, resolved by injection, with the exports of `imports`. */
  static forRoot(rules: Type<AuditRules>, imports: NonNullable<DynamicModule['imports']> = []): DynamicModule {
    return {
      module: AuditApiModule,
      imports,
      controllers: [AuditLogsController],
      providers: [...recording(rules), AuditLogsService, WitnessCheck],
    };
  }

  /** The same without `/audit-logs`, for a service that shows the log in another form. */
  static withoutRoutes(rules: Type<AuditRules>, imports: NonNullable<DynamicModule['imports']> = []): DynamicModule {
    return {
      module: AuditApiModule,
      global: true,
      imports,
      providers: [...recording(rules), AuditLogsService, WitnessCheck],
      exports: [AuditLogsService, AuditRecorder],
    };
  }
}

function recording(rules: Type<AuditRules>): NonNullable<DynamicModule['providers']> {
  return [{ provide: AuditRules, useClass: rules }, AuditRecorder, globalInterceptor(AuditInterceptor)];
}
