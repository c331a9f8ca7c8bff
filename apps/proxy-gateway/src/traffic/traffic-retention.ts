import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';
import { describeSections } from './describe-sections.js';
import { dropPartitionsBefore } from './log-partitions.js';

const DAY_MS = 86_400_000;
/** A writer that has been silent for this long is gone, and cannot repeat its last batch. */
const WRITER_DAYS = 30;

export interface RetentionReport {
  droppedPartitions: string[];
}

/** Deletes rows older than the settings allow. */
@Injectable()
export class TrafficRetention {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly preferences: Preferences,
  ) {}

  async sweep(now: number): Promise<RetentionReport> {
    const logsFrom = now - this.preferences.get('traffic_log.retention_days') * DAY_MS;
    const statsFrom = new Date(now - this.preferences.get('traffic_stats.retention_days') * DAY_MS);
    const droppedPartitions = await this.unitOfWork.run((tx) => dropPartitionsBefore(tx, logsFrom));
    await this.unitOfWork.run(async (tx) => {
      await tx.query('DELETE FROM traffic_domain_hourly WHERE hour < $1', [statsFrom]);
      await tx.query('DELETE FROM traffic_node_hourly WHERE hour < $1', [statsFrom]);
      await tx.query('DELETE FROM traffic_user_hourly WHERE hour < $1', [statsFrom]);
      const writersFrom = new Date(now - WRITER_DAYS * DAY_MS);
      await tx.query('DELETE FROM accounting_writers WHERE updated_at < $1', [writersFrom]);
      await tx.query('DELETE FROM accounting_spools WHERE updated_at < $1', [writersFrom]);
    });
    await describeSections(this.unitOfWork);
    return { droppedPartitions };
  }
}
