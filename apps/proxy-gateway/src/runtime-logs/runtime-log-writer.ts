import { JsonLogger, type MetricsRegistry } from '@gatehouse/platform';
import { Logger } from '@nestjs/common';
import type { BeforeApplicationShutdown, OnModuleInit } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { halveRows, writeBatches } from '@gatehouse/postgres';
import type { Preferences } from '../preferences/preferences.service.js';
import { RuntimeLogQueue } from './runtime-log-queue.js';
import { KERNEL_CONTEXT, toNewRow } from './runtime-log-row.js';
import type { NewRuntimeLog } from './runtime-log-row.js';

const INSERT = `INSERT INTO runtime_logs (time, level, source, context, message, fields, request_id)
  SELECT time, level, source, context, message, fields, request_id
  FROM jsonb_to_recordset($1::jsonb) AS line
    (time timestamptz, level smallint, source text, context text, message text, fields jsonb, request_id text)`;

/** Writes every log line of this process, including those of the kernel, to the database. */
export class RuntimeLogWriter implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger('RuntimeLogs');
  private readonly queue = new RuntimeLogQueue({
    write: (rows) => this.write(rows),
    onFailure: (error, waiting) => this.logger.error(`${waiting} log lines wait for the database`, error),
    onDropped: (rows) => this.logger.warn(`${rows} log lines were dropped while the database did not accept them`),
  });
  private readonly endings: (() => void)[] = [];

  constructor(
    private readonly dataSource: DataSource,
    private readonly source: JsonLogger,
    private readonly preferences: Preferences,
    private readonly process: 'api' | 'worker',
    private readonly metrics: MetricsRegistry,
  ) {}

  onModuleInit(): void {
    this.endings.push(this.source.tap((record) => this.queue.add(toNewRow(record, this.process))));
    this.endings.push(this.preferences.onChange(() => this.followKernelLevel()));
    this.followKernelLevel();
  }

  /** Runs before the stage in which the database closes. */
  async beforeApplicationShutdown(): Promise<void> {
    for (const end of this.endings.splice(0)) end();
    await this.queue.close();
  }

  /** Resolves when everything logged so far is in the database, or could not be written. */
  flush(): Promise<void> {
    return this.queue.flush();
  }

  private followKernelLevel(): void {
    const level = this.preferences.get('kernel.log_level');
    this.source.setContextLevel(KERNEL_CONTEXT, level === 'warning' ? 'warn' : level);
  }

  /** Lines that the database refuses go to standard output; logging them here would bring them back. */
  private write(rows: readonly NewRuntimeLog[]): Promise<void> {
    return writeBatches([rows], {
      write: async (part) => void (await this.dataSource.query(INSERT, [JSON.stringify(part)])),
      halve: halveRows,
      setAside: (part) => this.metrics.noteRefusedRows('runtime_logs', part.length),
    });
  }
}
