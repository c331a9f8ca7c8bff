import { JsonLogger, MetricsRegistry } from '@gatehouse/platform';
import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Preferences } from '../preferences/preferences.service.js';
import { RuntimeLogRetention } from './runtime-log-retention.js';
import { RuntimeLogWriter } from './runtime-log-writer.js';
import { RuntimeLogStream } from './runtime-log-stream.js';
import { RuntimeLogsController } from './runtime-logs.controller.js';
import { RuntimeLogsService } from './runtime-logs.service.js';

/** Writes the log lines of every process to the database. */
@Module({})
export class RuntimeLogsModule {
  static forRoot(process: 'api' | 'worker'): DynamicModule {
    return {
      module: RuntimeLogsModule,
      global: true,
      providers: [
        {
          provide: RuntimeLogWriter,
          inject: [DataSource, JsonLogger, Preferences, MetricsRegistry],
          useFactory: (
            dataSource: DataSource,
            logger: JsonLogger,
            preferences: Preferences,
            metrics: MetricsRegistry,
          ) => new RuntimeLogWriter(dataSource, logger, preferences, process, metrics),
        },
        RuntimeLogRetention,
      ],
      exports: [RuntimeLogWriter, RuntimeLogRetention],
    };
  }
}

/** The routes below `/logs`. */
@Module({ controllers: [RuntimeLogsController], providers: [RuntimeLogsService, RuntimeLogStream] })
export class RuntimeLogsApiModule {}
