import type { QueueName } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';

export interface ResultPage {
  limit: number;
  offset: number;
}

/** Completes what a job says of itself with what it left in the database. */
export type ResultReader = (jobId: string, own: unknown, page: ResultPage) => Promise<unknown>;

/** Who knows the results of which queue: features register here, so that jobs need not know them. */
@Injectable()
export class JobResults {
  private readonly readers = new Map<QueueName, ResultReader>();

  register(queue: QueueName, reader: ResultReader): void {
    this.readers.set(queue, reader);
  }

  read(queue: QueueName, jobId: string, own: unknown, page: ResultPage): Promise<unknown> {
    return this.readers.get(queue)?.(jobId, own, page) ?? Promise.resolve(own ?? null);
  }
}
