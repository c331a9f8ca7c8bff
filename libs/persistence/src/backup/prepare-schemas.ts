import { MigrationExecutor, type DataSource, type QueryRunner } from 'typeorm';
import { createDataSource, quoteIdentifier, type DataSourceConfig } from '../data-source.js';
import { recordReleases } from '../migration-releases.js';
import { appliedMigrations, LOCK_CLASS, nameOf, sqlSetsOf } from '../migrations.js';
import type { PgConnection } from '../pg-client.js';
import { applySqlFiles } from '../sql-files.js';
import type { StoredData } from './stored-data.js';

/**
 * Creates and changes schemas of several services on one connection, inside its open transaction: they are invisible
 * until the commit, and never exist after a rollback.
 */
export class SchemaBuilder {
  private readonly services: readonly OpenService[];
  private readonly runner: QueryRunner;

  private constructor(services: readonly OpenService[], runner: QueryRunner) {
    this.services = services;
    this.runner = runner;
  }

  /** Opens a connection for `work` and a transaction on it, which is committed when `work` resolves. */
  static async inTransaction<T>(
    url: string,
    stored: readonly StoredData[],
    work: (builder: SchemaBuilder, client: PgConnection) => Promise<T>,
  ): Promise<T> {
    const services = stored.map((data) => open(data, url));
    const [first] = services;
    if (first === undefined) throw new TypeError('There is no service whose schemas could be made.');
    try {
      for (const { dataSource } of services) await dataSource.initialize();
      const runner = first.dataSource.createQueryRunner();
      const client = (await runner.connect()) as PgConnection;
      try {
        await runner.startTransaction();
        const result = await work(new SchemaBuilder(services, runner), client);
        await runner.commitTransaction();
        return result;
      } finally {
        await runner.release();
      }
    } finally {
      // Also ends the connection, and with it an uncommitted transaction, whatever state COPY left it in.
      for (const { dataSource } of services) if (dataSource.isInitialized) await dataSource.destroy();
    }
  }

  /** Prevents other migrations of these schemas until the transaction ends. */
  async keepMigrationsOut(): Promise<void> {
    for (const { config } of this.services) {
      await this.runner.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [LOCK_CLASS, config.schema]);
    }
  }

  /** Runs the missing migrations that `isWanted` accepts, service by service, and returns their names. */
  async migrate(isWanted: (migration: string) => boolean): Promise<string[]> {
    const applied: string[] = [];
    for (const { config, dataSource } of this.services) {
      await this.runner.query(`CREATE SCHEMA IF NOT EXISTS ${quoteIdentifier(config.schema)}`);
      await this.useNamesOf(config.schema);
      const client = (await this.runner.connect()) as PgConnection;
      const done = await appliedMigrations(client, config.schema);
      const all = dataSource.migrations;
      await recordReleases(client, config.schema, config.release, all);
      try {
        for (const migration of all.toSorted((a, b) => timeOf(nameOf(a)) - timeOf(nameOf(b)))) {
          const name = nameOf(migration);
          if (done.includes(name) || !isWanted(name)) continue;
          Object.assign(dataSource, { migrations: [migration] });
          await new MigrationExecutor(dataSource, this.runner).executePendingMigrations();
          // Checks that the migration's own commit would have made; the next one may change a table with pending
          // checks.
          await this.runner.query('SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED');
          applied.push(name);
        }
      } finally {
        Object.assign(dataSource, { migrations: all });
      }
    }
    return applied;
  }

  /** Updates functions and triggers to this version; the tables must already be of this version. */
  async applySqlFiles(): Promise<void> {
    const client = (await this.runner.connect()) as PgConnection;
    for (const { dataSource } of this.services) {
      for (const set of sqlSetsOf(dataSource)) await applySqlFiles(client, set);
    }
  }

  /** Sets the search path to the service with the given schema. */
  async useNamesOf(schema: string): Promise<void> {
    const owner = this.services.find(({ data, config }) => config.schema === schema || data.schemas.includes(schema));
    const path = owner === undefined ? [schema] : [owner.config.schema, ...(owner.config.searchPath ?? [])];
    await this.runner.query(`SET LOCAL search_path = ${path.map(quoteIdentifier).join(', ')}`);
  }

  /** Runs a statement for its result, and undoes its effect. */
  async rehearse<T>(work: () => Promise<T>): Promise<T> {
    await this.runner.query('SAVEPOINT rehearsal');
    const found = await work();
    await this.runner.query('ROLLBACK TO SAVEPOINT rehearsal');
    return found;
  }
}

interface OpenService {
  data: StoredData;
  config: DataSourceConfig;
  dataSource: DataSource;
}

function open(data: StoredData, url: string): OpenService {
  const config = data.database(url, 'gatehouse restore');
  return { data, config, dataSource: createDataSource({ ...config, poolSize: 1 }) };
}

/** The names of migrations end with their creation time, in 13 digits. */
function timeOf(name: string): number {
  return Number(name.slice(-13));
}

/** Names of all migrations of this version of a service. */
export function knownMigrations(stored: StoredData): string[] {
  const { migrations } = stored.database('postgres://', '');
  const list = (Array.isArray(migrations) ? migrations : Object.values(migrations)) as unknown[];
  return list.map((migration) => (typeof migration === 'function' ? migration.name : String(migration)));
}
