import type { QueueName } from '@gatehouse/contracts';
import { Injectable } from '@nestjs/common';

export interface ResultPage {
  limit: number;
  offset: number;
}

/** Adds the results that a job stored in the database to those stored with the job. */
export type ResultReader = (jobId: string, own: unknown, page: ResultPage) => Promise<unknown>;

/** Readers of results by queue. Features register theirs here, so that this folder need not import them. */
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
