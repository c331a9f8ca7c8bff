import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  checksumOf,
  createDataSource,
  migrate,
  readSqlFiles,
  SqlVersion,
  withClient,
  type Release,
  type ReleasedMigration,
} from '@gatehouse/persistence';
import { SERVICE } from '../../src/service.js';
import { MIGRATIONS } from '../../src/migrations/index.js';

const RELEASE = '99.1.0';
const FILE = 'edges.sql';
const FUNCTION = 'aggregate_run_status';

/** A version of this service that has another text of a function, and migrations that the present one does not know. */
export class NewerVersion {
  private readonly migrations: (new () => ReleasedMigration)[] = [];
  private readonly sqlFolder: URL;

  constructor(
    private readonly url: string,
    folder: string,
  ) {
    cpSync(new URL('../../data/sql/', import.meta.url), folder, { recursive: true });
    this.sqlFolder = pathToFileURL(`${folder}/`);
    const file = join(folder, FILE);
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace(/(FUNCTION \w+\.aggregate_run_status.* AS \$\$)/, '$1 -- of the newer version'));
  }

  /** Adds a migration, and brings the database to this version. `oldest`: the first version that works with it. */
  async upgrade(name: string, oldest: string): Promise<void> {
    const sqlChecksum = checksumOf(readSqlFiles(this.sqlFolder));
    const Migration = class extends SqlVersion implements ReleasedMigration {
      readonly name = name;
      readonly sqlChecksum = sqlChecksum;
      readonly oldestRelease = oldest as Release;
    };
    this.migrations.push(Migration);
    const config = SERVICE.databaseConfig(this.url);
    const migrations = [...MIGRATIONS, ...this.migrations];
    await migrate(createDataSource({ ...config, release: RELEASE, migrations, sqlFolder: this.sqlFolder }));
  }

  /** The text of the function that the database has. */
  async functionText(): Promise<string> {
    return await withClient(this.url, async (client) => {
      const { rows } = await client.query<{ text: string }>('SELECT prosrc AS text FROM pg_proc WHERE proname = $1', [
        FUNCTION,
      ]);
      return rows[0]?.text ?? '';
    });
  }
}
