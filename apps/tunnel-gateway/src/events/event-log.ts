import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { insertOf, type NewEvent } from '../common/new-event.js';

export type { NewEvent } from '../common/new-event.js';

/** Records events. */
@Injectable()
export class EventLog {
  constructor(private readonly dataSource: DataSource) {}

  /** With a transaction, the event is recorded only if that commits. */
  async record(event: NewEvent, tx?: EntityManager): Promise<void> {
    await this.recordAll([event], tx);
  }

  async recordAll(events: readonly NewEvent[], tx?: EntityManager): Promise<void> {
    if (events.length === 0) return;
    const { text, values } = insertOf(events);
    await (tx ?? this.dataSource.manager).query(text, values);
  }
}
