import { UnitOfWork, withLayer } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Revocations } from '../credentials/revocations.js';
import { rowsOf } from '../data/rows-of.js';
import { TestAccounts } from './test-accounts.js';

/** More than everything that is made up costs. */
export const MAX_TEST_POINTS = 10_000_000;

/** A share that every application has in test mode. */
export interface MadeUpShare {
  /** What comes of unlocking it. */
  readonly name: string;
  readonly slug: string;
  /** In points; null for free. */
  readonly price: number | null;
}

const MADE_UP = `SELECT s.made_up AS name, replace(s.slug::text, '-', '') AS slug, s.unlock_points AS price
  FROM resource_sharing_test.shares s WHERE s.application_id = $1 AND s.made_up IS NOT NULL ORDER BY s.id`;

/** What the owners of applications do with their test data. */
@Injectable()
export class TestData {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
    private readonly accounts: TestAccounts,
    private readonly revocations: Revocations,
  ) {}

  /** Sets the points of a user's test account for this application; makes the account if there is none. */
  async setPoints(applicationId: number, userId: number, points: number): Promise<void> {
    const { id } = await this.accounts.open(applicationId, userId);
    await withLayer(String(applicationId), () =>
      this.unitOfWork.run((tx) => tx.query('SELECT set_test_points($1, $2)', [id, points])),
    );
  }

  /** Removes everything that was made with test keys. It begins again with the next test call. */
  async empty(applicationId: number): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      await this.emptyIn(tx, [applicationId]);
      await this.revocations.announce(tx, [`application:${applicationId}`]);
    });
  }

  /** The same as part of `tx`, for those who announce the applications. */
  async emptyIn(tx: EntityManager, applicationIds: readonly number[]): Promise<void> {
    await tx.query('SELECT resource_sharing_test.empty_test_data(id) FROM unnest($1::bigint[]) AS gone (id)', [
      applicationIds,
    ]);
  }

  /** Empty before the first test call. */
  async madeUp(applicationId: number): Promise<MadeUpShare[]> {
    return rowsOf<MadeUpShare>(this.dataSource, MADE_UP, [applicationId]);
  }
}
