import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import {
  backupDatabase,
  BACKUP_SCHEMAS,
  checkBackup,
  checkInvariants,
  createDataSource,
  LOG_TABLES,
  migrate,
  restoreDatabase,
  withClient,
  type StoredData,
} from '@gatehouse/persistence';
import { createTestDatabase, programEnvironment, type TestDatabase, waitFor } from '@gatehouse/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../smoke/launched-platform.js';
import { SERVICES, storedServices } from './stored-services.js';
import { tableFingerprints } from './table-fingerprints.js';

/** How many migrations of each service the older version had: tables exist that later ones change. */
const OLDER = [10, 7, 8];

/** A service as it was when it had only its first migrations. */
function olderVersion(stored: StoredData, count: number): StoredData {
  const cut: StoredData['database'] = (url, name) => {
    // It had its functions in its migrations.
    const { sqlFolder: _newer, ...config } = stored.database(url, name);
    return { ...config, migrations: Object.values(config.migrations).slice(0, count) as never };
  };
  return { ...stored, database: cut, invariants: [] };
}

describe('backups of the real schemas', { timeout: 120_000 }, () => {
  let folder: string;
  let present: StoredData[];
  let older: StoredData[];
  let owned: TestDatabase;
  let role: string;
  let url: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gatehouse-versions-'));
    present = await storedServices();
    older = present.map((stored, index) => olderVersion(stored, OLDER[index] ?? 0));
    owned = await createTestDatabase();
    role = `owner_${owned.name}`;
    await withClient(owned.url, (client) =>
      client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'owner'; ALTER DATABASE ${owned.name} OWNER TO ${role}`),
    );
    url = Object.assign(new URL(owned.url), { username: role, password: 'owner' }).href;
    for (const stored of older) await migrate(createDataSource(stored.database(url, 'spec')));
    await withClient(url, (client) =>
      client.query(
        `INSERT INTO resource_sharing.site_accounts (username, nickname, password_hash) VALUES ('ann', 'Ann', 'x'), ('bob', 'Bob', 'x')`,
      ),
    );
  });
  afterAll(async () => {
    await using other = await createTestDatabase();
    await owned.drop();
    await withClient(other.url, (client) => client.query(`DROP ROLE ${role}`));
    rmSync(folder, { recursive: true });
  });

  it('contain every schema of every service', () => {
    expect(present.flatMap(({ schemas }) => schemas).toSorted((a, b) => a.localeCompare(b))).toEqual(
      BACKUP_SCHEMAS.toSorted((a, b) => a.localeCompare(b)),
    );
  });

  it('of an older version are migrated to this one, for a role that only owns the database', async () => {
    const [first, second] = [join(folder, 'older.gz'), join(folder, 'newer.gz')];
    await backupDatabase(url, first);
    const backup = await checkBackup(first, { stored: present });
    expect(backup.migrations.length).toBeGreaterThan(20);
    // Over what they were made from.
    await expect(restoreDatabase(url, backup)).rejects.toThrow('not empty (proxy-gateway');
    await restoreDatabase(url, backup, { force: true });
    const checks = await checkInvariants(url, present);
    expect(checks.filter(({ broken }) => broken > 0)).toEqual([]);
    expect(checks.length).toBeGreaterThan(present.length);
    const { rows } = await withClient(url, (client) =>
      client.query(
        'SELECT username, balance FROM resource_sharing.site_accounts JOIN resource_sharing.ledger_accounts ON user_id = id ORDER BY 1',
      ),
    );
    expect(rows).toEqual([
      { username: 'ann', balance: 0 },
      { username: 'bob', balance: 0 },
    ]);
    // What this version saves, the older one refuses by name.
    await backupDatabase(url, second);
    await expect(checkBackup(second, { stored: older })).rejects.toThrow(
      /made by a newer Gatehouse \(it has the migrations .*CreateTrafficLogSections1763668800350/,
    );
    await restoreDatabase(url, await checkBackup(second, { stored: present }), { force: true });
    expect((await checkInvariants(url, present)).filter(({ broken }) => broken > 0)).toEqual([]);
  });

  it('reveal a row that was inserted into the audit log of any service', async () => {
    await using damaged = await createTestDatabase();
    for (const stored of present) await migrate(createDataSource(stored.database(damaged.url, 'spec')));
    const { rows } = await withClient(damaged.url, (client) =>
      client.query<{ name: string }>(
        `SELECT relnamespace::regnamespace || '.' || relname AS name FROM pg_class WHERE relname = 'audit_logs'`,
      ),
    );
    expect(rows).toHaveLength(SERVICES.length);
    for (const { name } of rows) {
      await withClient(damaged.url, (client) =>
        client.query(`INSERT INTO ${name} (id, created_at, actor_type, action, success, changes, prev_hash, hash)
          VALUES (1, now(), 'system', 'rule.create', true, '[]', '', 'forged')`),
      );
    }
    const broken = (await checkInvariants(damaged.url, present)).filter((check) => check.broken > 0);
    const name = 'the audit log ends where its head says';
    expect(broken.map((check) => ({ ...check, name: check.name.en }))).toEqual(
      SERVICES.map((service) => ({ service, name, broken: 1 })),
    );
  });

  it('leave the former data unchanged when the restoring process is killed', async () => {
    const file = join(folder, 'large.gz');
    await withClient(url, (client) =>
      client.query(`INSERT INTO proxy_gateway.runtime_logs (time, level, source, message, fields)
        SELECT now(), 20, 'spec', 'line ' || n, '{}' FROM generate_series(1, 50000) AS n`),
    );
    await backupDatabase(url, file);
    await withClient(url, (client) => client.query('TRUNCATE proxy_gateway.runtime_logs'));
    const before = await withClient(url, tableFingerprints);
    const env = programEnvironment({ GATEHOUSE_HOME: folder, DATABASE_URL: url });
    const command = [join(ROOT, 'tools/dist/cli.js'), 'restore', file, '--force'];
    const child = spawn(process.execPath, command, { env, stdio: 'ignore' });
    const ended = once(child, 'exit');
    const running = `SELECT tuples_processed AS rows FROM pg_stat_progress_copy WHERE datname = current_database()`;
    await withClient(url, async (client) => {
      await waitFor(
        async () => (await client.query<{ rows: string }>(running)).rows.some(({ rows }) => Number(rows) > 1_000),
        { timeoutMs: 60_000, intervalMs: 1 },
      );
      child.kill('SIGKILL');
      expect(await ended).toEqual([null, 'SIGKILL']);
      // The server notices, and takes back what it did.
      await waitFor(async () => (await client.query(running)).rows.length === 0);
    });
    expect(await withClient(url, tableFingerprints)).toEqual(before);
  });

  it('of the first format, which did not name the days of logs and tokens, are restored with their days; logs can be left out', async () => {
    const file = join(folder, 'first-format.gz');
    await using full = await createTestDatabase();
    for (const stored of present) await migrate(createDataSource(stored.database(full.url, 'spec')));
    await withClient(full.url, async (client) => {
      for (const [schema, table, day, next] of [
        ['proxy_gateway', 'traffic_logs', '20260101', '2026-01-02'],
        ['resource_sharing', 'access_tokens', '20260101', '2026-01-02'],
      ] as const) {
        await client.query(`CREATE TABLE ${schema}.${table}_${day} PARTITION OF ${schema}.${table}
          FOR VALUES FROM ('2026-01-01 00:00Z') TO ('${next} 00:00Z')`);
      }
      await client.query(
        `INSERT INTO proxy_gateway.traffic_logs (started_at, ended_at, client_ip, client_port, inbound, network, target_port,
           chains, upload, download, status, search_text)
         SELECT at, at, '192.0.2.1', 1, 'mixed', 'tcp', 443, '[]', 1, 2, 'ok', E'a tab\t, a line\n, 漢'
           FROM unnest(ARRAY['2026-01-01 00:00Z', '2026-01-01 23:59:59.999Z']::timestamptz[]) AS at;
         INSERT INTO proxy_gateway.traffic_log_days VALUES ('2026-01-01', 2);
         INSERT INTO resource_sharing.access_tokens (hash, grant_id, scopes, expires_at)
           VALUES ('x', 1, '{}', '2026-01-01 12:00Z')`,
      );
    });
    await backupDatabase(full.url, file);
    const text = gunzipSync(readFileSync(file)).toString('utf8');
    const end = text.indexOf('\n');
    const { partitions, keys, leftOut, ...header } = JSON.parse(text.slice(0, end)) as Record<string, unknown>;
    expect([partitions, keys, leftOut]).not.toContain(undefined);
    writeFileSync(file, gzipSync(JSON.stringify({ ...header, version: 1 }) + text.slice(end)));
    await using empty = await createTestDatabase();
    await restoreDatabase(empty.url, await checkBackup(file, { stored: present, keys: [] }));
    const places = (at: string) =>
      withClient(at, async (client) => {
        const tables = ['proxy_gateway.traffic_logs', 'resource_sharing.access_tokens'];
        const found = tables.map((table) =>
          client.query(`SELECT tableoid::regclass::text, t::text FROM ${table} AS t`),
        );
        return (await Promise.all(found)).map(({ rows }) => rows as unknown[]);
      });
    expect(await places(empty.url)).toEqual(await places(full.url));
    expect((await checkInvariants(empty.url, present)).filter(({ broken }) => broken > 0)).toEqual([]);

    // Without logs none of them come back, and no counter has them.
    const { leftOut: logs } = await backupDatabase(full.url, file, { withoutLogs: true });
    expect(logs.toSorted((a, b) => a.localeCompare(b))).toEqual(LOG_TABLES.toSorted((a, b) => a.localeCompare(b)));
    await restoreDatabase(empty.url, await checkBackup(file, { stored: present }), { force: true });
    const [flows, tokens] = await places(empty.url);
    expect([flows, tokens?.length]).toEqual([[], 1]);
    expect((await checkInvariants(empty.url, present)).filter(({ broken }) => broken > 0)).toEqual([]);
  });
});
