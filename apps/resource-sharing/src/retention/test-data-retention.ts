import { UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { rowsOf } from '../data/rows-of.js';

const UNUSED_DAYS = 90;
/** Applications per run. */
const MOST = 200;
/** Those without a test call for long, and those that are gone. */
const UNUSED = `
  SELECT t.application_id AS id FROM resource_sharing_test.test_accounts t
  WHERE NOT EXISTS (SELECT FROM applications a WHERE a.id = t.application_id)
    OR NOT EXISTS (SELECT FROM credentials c WHERE c.application_id = t.application_id AND c.kind = 'test'
      AND greatest(c.created_at, c.last_used_at) > now() - interval '${UNUSED_DAYS} days')
  GROUP BY 1 HAVING max(t.created_at) < now() - interval '1 hour' LIMIT ${MOST}`;

/** Removes test data of applications that make no test calls. No process remembers their accounts after so long. */
@Injectable()
export class TestDataRetention {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Each in a transaction of its own. Stops if `signal` aborts; the next run continues. */
  async sweep(signal?: AbortSignal): Promise<void> {
    for (const { id } of await rowsOf<{ id: number }>(this.dataSource, UNUSED)) {
      if (signal?.aborted === true) return;
      await this.unitOfWork.run((tx) => tx.query('SELECT resource_sharing_test.empty_test_data($1)', [id]));
    }
  }
}
